import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy test`: runs the test cases of policies.
struct PolicyTestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Run the test cases of policies, each in every state that it covers.",
    discussion: """
      NAME.tests.md contains test cases for the policy NAME. In its tables, the columns right of the arrow are the \
      expected values of show, load, image, source, rule, or a column of the policy such as upgrade. The command also \
      prints how many rules and states the cases reach.

        | case             | network  | original | thumbnail | → show    | load    |
        |------------------|----------|----------|-----------|-----------|---------|
        | LTE, a thumbnail | cellular | remote   | cached    | thumbnail | nothing |

      --record writes the current decisions as test cases for all states. Cases in NAME.golden.md run with the \
      others. After a change of the policy, record again, and a diff of the file shows the changed decisions.

      EXAMPLES
        feedimg policy test                          test all installed policies
        feedimg policy test Policies/ --junit report.xml
        feedimg policy test mine.tests.md --policy data-saver
        feedimg policy test mine.md --record mine.golden.md

      Ends with 0 if all cases pass, 1 if a case fails, 2 if a file cannot be read or there are no cases.
      """
  )

  @Argument(
    help: ArgumentHelp(
      "Files of test cases, policies with test cases beside them, and folders (default: all policies).",
      valueName: "file"
    ),
    completion: .policy
  )
  var files: [String] = []

  @Option("policy", "Run the test cases with this policy instead.", completion: .policy) var policy: String?

  @Option(
    "file",
    "Write the decisions in all states as test cases to this file; - is standard output.",
    completion: .file(extensions: ["md"])
  )
  var record: String?

  @Option(
    "file",
    "Write a JUnit XML report to this file; - is standard output.",
    completion: .file(extensions: ["xml"])
  )
  var junit: String?

  @Flag(help: "Print one line of JSON for each file of test cases.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let policies = try options.policies()
    let recording = record.map { OutputFile(path: $0, option: "--record") }
    let report = junit.map { OutputFile(path: $0, option: "--junit") }
    for file in [recording, report] { try file?.check() }
    if let recording { try recording.write(Array(try policies.golden(files, of: policy).utf8)) }
    // A policy without test cases can be recorded.
    let runs =
      recording == nil
      ? try policies.test(files, of: policy) : (try? policies.test(files, of: policy)) ?? []
    if let report { try report.write(Array(Policies.TestRun.junit(runs).utf8)) }
    let isQuiet = record == "-" || junit == "-"
    for run in runs { show(run, isNamed: runs.count > 1, isQuiet: isQuiet) }
    if runs.contains(where: { $0.outcome == .unreadable }) { throw CommandError(.usage) }
    if runs.contains(where: { $0.outcome == .failed }) { throw CommandError(.failure) }
  }

  private func show(_ run: Policies.TestRun, isNamed: Bool, isQuiet: Bool) {
    if run.summary == nil, !json { return run.failures.forEach(Output.report) }
    guard !isQuiet else { return }
    Output.line(json ? run.json : PolicyText.testRun(run, isNamed: isNamed))
  }
}

import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy test`: whether policies decide as their cases say.
struct PolicyTestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Run the cases of policies, each in every state that it covers.",
    discussion: """
      NAME.tests.md holds cases of the policy NAME: tables whose columns right of the arrow say what is expected of \
      show, load, image, source, upgrade, priority or rule. Tells how many rules and states the cases reach.

        | case             | network  | original | thumbnail | → show    | load    |
        |------------------|----------|----------|-----------|-----------|---------|
        | LTE, a thumbnail | cellular | remote   | cached    | thumbnail | nothing |

      --record writes what the policy decides today as cases that cover every state; kept as NAME.golden.md they \
      run with the others, and the next --record shows in a diff what a change of the policy changed.

      EXAMPLES
        feedimg policy test                          all policies that have cases
        feedimg policy test Policies/ --junit report.xml
        feedimg policy test mine.tests.md --policy data-saver
        feedimg policy test mine.md --record mine.golden.md

      Ends with 0 if all cases pass, 1 if one fails, 2 if something could not be read or there are no cases.
      """
  )

  @Argument(
    help: ArgumentHelp(
      "Files of cases, policies with cases beside them, and folders (default: all policies).",
      valueName: "file"
    ),
    completion: .policy
  )
  var files: [String] = []

  @Option(parsing: .unconditional, help: "Run the cases against this policy instead.", completion: .policy)
  var policy: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Write what the policy decides in every state; - is standard output.",
      valueName: "file"
    ),
    completion: .file(extensions: ["md"])
  )
  var record: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Write a report for continuous integration; - is standard output.", valueName: "file"),
    completion: .file(extensions: ["xml"])
  )
  var junit: String?

  @Flag(help: "Print one JSON object for each file of cases, a line each.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let policies = try options.policies()
    let recording = record.map { OutputFile(path: $0, option: "--record") }
    let report = junit.map { OutputFile(path: $0, option: "--junit") }
    for file in [recording, report] { try file?.check() }
    if let recording { try recording.write(Array(try policies.golden(files, of: policy).utf8)) }
    // A policy can be recorded before it has cases.
    let runs =
      recording == nil
      ? try policies.test(files, of: policy) : (try? policies.test(files, of: policy)) ?? []
    if let report { try report.write(Array(Policies.TestRun.junit(runs).utf8)) }
    let isQuiet = record == "-" || junit == "-"
    for run in runs { show(run, isNamed: runs.count > 1, isQuiet: isQuiet) }
    if runs.contains(where: { $0.outcome == .unreadable }) { throw CommandFailure(.usage) }
    if runs.contains(where: { $0.outcome == .failed }) { throw CommandFailure(.failure) }
  }

  private func show(_ run: Policies.TestRun, isNamed: Bool, isQuiet: Bool) {
    if run.summary == nil, !json { return run.failures.forEach(Output.complain) }
    guard !isQuiet else { return }
    Output.line(json ? run.json : PolicyText.testRun(run, isNamed: isNamed))
  }
}

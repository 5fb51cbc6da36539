import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy`: the policies.
struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "Show, check, compare and test policies.",
    discussion: """
      A policy is a Markdown table. The columns left of the arrow are facts. The first row that matches decides, and \
      the word right of the arrow is the best image that may be shown. These commands check all states of a policy, \
      so their results are exact.

        | original | network        | → image   |
        |----------|----------------|-----------|
        | cached   | -              | original  |
        | -        | wifi, ethernet | original  |
        | -        | -              | thumbnail |

      Commands accept a name that `feedimg policy list` shows, or the path of a file. NAME.md in \
      $XDG_CONFIG_HOME/feedimg/policies (~/.config/feedimg/policies) replaces NAME.md in /etc/feedimg/policies, \
      which replaces the built-in policy NAME. The policy `default` is in force unless --policy names another.

      EXAMPLES
        feedimg policy table default network=cellular     print the decisions
        feedimg policy explain default network=cellular thumbnail=cached
        feedimg policy export default > mine.md           start your own policy
        feedimg policy check mine.md
        feedimg policy diff default mine.md --fail-if-more
        cp mine.md ~/.config/feedimg/policies/default.md  put it in force
        feedimg policy which

      EXIT STATUS
        0  success
        1  a policy has errors, a test case failed, or --fail-if-more applies
        2  a file cannot be read, or the command is invalid
      """,
    subcommands: [
      PolicyListCommand.self, PolicyWhichCommand.self, PolicyTableCommand.self, PolicyExplainCommand.self,
      PolicyCheckCommand.self, PolicyTestCommand.self, PolicyDiffCommand.self, PolicyExportCommand.self,
    ],
    defaultSubcommand: PolicyListCommand.self
  )
}

/// `feedimg policy list`: the installed policies.
struct PolicyListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Print all policies; * marks the policy in force.",
    discussion: """
      EXAMPLES
        feedimg policy list
        feedimg policy list --json | jq -r .policy
      """
  )

  @Flag(help: "Print one line of JSON for each policy.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let entries = try options.policies().list()
    for line in json ? entries.map(\.json) : PolicyText.list(entries) { Output.line(line) }
  }
}

/// `feedimg policy which`: the policy in force and its origin.
struct PolicyWhichCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "which",
    abstract: "Print the policy in force, its file, and the errors of other files.",
    discussion: """
      Lists all places that were searched, the first choice first. A file with errors is refused, and the next \
      place is used. A running program keeps the last valid version.

      EXAMPLES
        feedimg policy which
        feedimg policy which data-saver
        feedimg policy which --json | jq -r .file
      """
  )

  @Argument(help: "A name or a file (default: the policy in force).", completion: .policy) var policy: String?
  @Flag(help: "Print one JSON object.") var json = false
  @OptionGroup var options: PolicyOptions

  func run() throws {
    let status = try options.policies().status(of: policy)
    Output.line(json ? status.json : PolicyText.status(status))
  }
}

/// `feedimg policy export`: prints a policy as text or JSON.
struct PolicyExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Print a policy as text or JSON, or print the JSON Schema.",
    discussion: """
      The JSON form is for applications that create policies, for example in a settings page. All policy commands \
      also read it from files that end in .json.

      EXAMPLES
        feedimg policy export data-saver > mine.md
        feedimg policy export default --json | jq .rules
        feedimg policy export --schema > policy.schema.json
      """
  )

  @Argument(help: "A name or a file.", completion: .policy) var policy: String?
  @Flag(help: "Print the policy as JSON.") var json = false
  @Flag(help: "Print the JSON Schema of policies.") var schema = false
  @OptionGroup var options: PolicyOptions

  func validate() throws {
    guard schema == (policy == nil) else {
      throw ValidationError(
        schema ? "--schema: expected no policy" : "expected a policy or --schema"
      )
    }
  }

  func run() throws {
    guard let policy else { return Output.document(Policies.schema) }
    let export = try options.policies().export(policy)
    Output.report(export.warnings)
    if json { Output.line(export.json) } else { Output.document(export.text) }
  }
}

/// The folder of policies, and the facts of an application that they may use.
struct PolicyOptions: ParsableArguments {
  @Option("fact=values", HostFact.optionHelp) var declare: [String] = []
  @Option(.configuration) var configurationFolder: String?

  /// - Throws: ``CommandError`` with status 2 for a `--declare` without `=`, or an error of the library.
  func policies() throws -> Policies {
    var configuration = ImageLoader.Configuration(configurationFolder: configurationFolder)
    configuration.hostFacts = try HostFact.declared(declare)
    return try Policies(configuration)
  }
}

extension CompletionKind {
  /// The name or path of a policy.
  static let policy = CompletionKind.custom { _, _, start in
    (try? Policies())?.completions(of: start) ?? Policies.shippedNames
  }
}

import ArgumentParser
import Feedimg
import FeedimgAdmin

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

import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg policy export`: a policy for programs, or to begin one's own with.
struct PolicyExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Print a policy: its text, its machine form, or the schema of that form.",
    discussion: """
      The machine form is for applications that build policies in a settings page; every verb reads it too, from \
      files that end in .json.

      EXAMPLES
        feedimg policy export data-saver > mine.md
        feedimg policy export default --json | jq .rules
        feedimg policy export --schema > policy.schema.json
      """
  )

  @Argument(help: "A name or a file.", completion: .policy) var policy: String?
  @Flag(help: "Print the machine form.") var json = false
  @Flag(help: "Print the JSON Schema of the machine form.") var schema = false
  @OptionGroup var options: PolicyOptions

  func validate() throws {
    guard schema == (policy == nil) else {
      throw ValidationError(
        schema ? "--schema is that of all policies: name none" : "name a policy, or --schema"
      )
    }
  }

  func run() throws {
    guard let policy else { return Output.document(Policies.schema) }
    let export = try options.policies().export(policy)
    for warning in export.warnings { Output.complain(warning) }
    if json { Output.line(export.json) } else { Output.document(export.text) }
  }
}

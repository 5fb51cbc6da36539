public import Feedimg
import FeedimgJSON
import FeedimgPolicies
import FeedimgPolicy

/// The policies that there are, and what can be asked of them.
///
/// A policy is named as on the shelf, such as `data-saver`, or by the path of a file. Every answer is a value that
/// does not change; files are read anew for each question.
public struct Policies: Sendable {
  /// Where a policy comes from; a later one replaces an earlier one of the same name.
  public typealias Layer = PolicyLayer
  /// Which policy decides, where it comes from, and why no other one does.
  public typealias Standing = PolicyStanding
  /// One place that a policy could have come from, and what became of it.
  public typealias Candidate = PolicyStanding.Candidate

  /// The names of the policies that come with feedimg, the default first.
  public static var shippedNames: [String] { ShippedPolicies.all.map(\.name) }

  /// The JSON Schema of policies in their machine form (draft 2020-12).
  public static var schema: String { PolicySchema.json.text(.indented) }

  let shelf: PolicyShelf
  let configuration: ImageLoader.Configuration

  /// The policies that a loader of this configuration could decide by.
  ///
  /// - Parameter configuration: Its folders count, its policy, and the facts of the application.
  /// - Throws: ``ConfigurationError`` for facts of the application that no table could spell.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    self.configuration = configuration
    shelf = try PolicyShelf(configuration)
  }
}

/// What the one place says that holds a policy, whether or not it is in order.
struct PolicyContent {
  let source: PolicySource
  let reading: PolicyReading
}

extension PolicySelection {
  /// What the first place says that holds anything; nil where none does.
  func text() -> PolicyContent? {
    for source in sources {
      let reading = source.reading
      if reading != .nothing { return PolicyContent(source: source, reading: reading) }
    }
    return nil
  }
}

/// A policy that a question is about.
struct AskedPolicy {
  let source: PolicySource
  let table: PolicyTable
  let text: [UInt8]
  /// What the user should know, such as that another file of that name is refused.
  let warnings: [String]
}

extension Policies {
  /// Refuses any name that no policy of the shelf has, such as a path.
  ///
  /// - Throws: ``ConfigurationError`` with a suggestion where a name is near.
  package func checkName(_ name: String) throws(ConfigurationError) { try shelf.checkName(name) }

  /// The policy that someone named: of the shelf the one in force, of a file what it says, with gaps and all.
  ///
  /// - Throws: ``PolicyFault`` where it cannot be read.
  func asked(_ argument: String) throws(PolicyFault) -> AskedPolicy {
    let selection = try shelf.selection(of: argument)
    if let source = selection.sources.first, source.layer == .given {
      let text = try source.reading.text()
      let table = try source.table(in: text, facts: shelf.facts)
      return AskedPolicy(source: source, table: table, text: text, warnings: [])
    }
    let readings = selection.read()
    let choice = selection.choose(readings)
    guard let chosen = choice.chosen, let index = selection.sources.firstIndex(of: chosen.source) else {
      throw choice.fault
    }
    return AskedPolicy(
      source: chosen.source,
      table: chosen.policy.table,
      text: try readings[index].text(),
      warnings: choice.warnings
    )
  }
}

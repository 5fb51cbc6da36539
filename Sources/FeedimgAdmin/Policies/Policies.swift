public import Feedimg
package import FeedimgJSON
import FeedimgPolicies
import FeedimgPolicy

/// Lists, checks, compares, tests and explains policies.
///
/// Methods take the name of an installed policy, such as `data-saver`, or the path of a file. Each call reads
/// the files again.
public struct Policies: Sendable {
  /// The policy in force, its origin, and the reasons against other files.
  public typealias Status = PolicyStatus

  /// The names of the policies that come with feedimg, the default first.
  public static var shippedNames: [String] { ShippedPolicies.all.map(\.name) }

  /// The JSON Schema of policies in JSON (draft 2020-12).
  public static var schema: String { PolicySchema.json.text(.indented) }

  let catalog: PolicyCatalog
  let configuration: ImageLoader.Configuration

  /// Creates the policies for a loader's configuration.
  ///
  /// - Parameter configuration: The folders, the policy, and the application's own facts.
  /// - Throws: ``ConfigurationError`` if the application's own facts have invalid names or values.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    self.configuration = configuration
    catalog = try PolicyCatalog(configuration)
  }

  /// Creates the policies of a loader with these parts.
  package init(_ configuration: ImageLoader.Configuration, sharing parts: LoaderParts) {
    (self.configuration, catalog) = (configuration, parts.catalog)
  }
}

extension JSONValue {
  /// The object with the members of another one, which replace those of the same name.
  package func adding(_ other: JSONValue) -> JSONValue {
    guard case .object(var object) = self, case .object(let added) = other else { return self }
    for member in added.members { object[member.name] = member.value }
    return .object(object)
  }
}

/// The content of the first place with a policy, which may be invalid.
struct PolicyContent {
  let source: PolicySource
  let reading: PolicyReading
}

extension PolicySelection {
  /// The content of the first place that is not empty; nil if all are empty.
  func text() -> PolicyContent? {
    for source in sources {
      let reading = source.reading
      if reading != .nothing { return PolicyContent(source: source, reading: reading) }
    }
    return nil
  }
}

/// A policy that an argument names.
struct NamedPolicy {
  let table: PolicyTable
  let text: [UInt8]
  /// Warnings for the user, such as that another file of that name is refused.
  let warnings: [String]
}

extension Policies {
  /// Checks that an installed policy has this name; rejects paths.
  ///
  /// - Throws: ``ConfigurationError`` for an unknown name; the message suggests a similar name.
  package func checkName(_ name: String) throws(ConfigurationError) { try catalog.checkName(name) }

  /// Runs the body, and throws the errors of a table as one.
  func convertingErrors<Result>(_ body: () throws(PolicyErrors) -> Result) throws(PolicyFileError) -> Result {
    do throws(PolicyErrors) {
      return try body()
    } catch {
      throw PolicyFileError(error.errors.map(\.description))
    }
  }

  /// The policy that an argument names: an installed policy, or the content of a file, even with gaps.
  func named(_ argument: String) throws(PolicyFileError) -> NamedPolicy { try policy(.named(argument)) }

  /// The policy that a configuration chooses; see ``named(_:)``.
  func policy(_ policy: ImageLoader.Configuration.Policy) throws(PolicyFileError) -> NamedPolicy {
    let selection = try catalog.selection(of: policy)
    if let source = selection.sources.first, source.layer == .given {
      let text = try source.reading.text()
      let table = try source.table(in: text, facts: catalog.facts)
      return NamedPolicy(table: table, text: text, warnings: [])
    }
    let readings = selection.read()
    let choice = selection.choose(readings)
    guard let chosen = choice.chosen, let index = selection.sources.firstIndex(of: chosen.source) else {
      throw choice.fault
    }
    return NamedPolicy(
      table: chosen.policy.table,
      text: try readings[index].text(),
      warnings: choice.warnings
    )
  }
}

public import Feedimg
import FeedimgJSON
import FeedimgPolicy

extension Policies {
  /// An installed policy.
  public struct Entry: Sendable {
    /// The valid version of the policy, and the refused files; nil if no version is valid.
    public var status: Status?
    /// The name.
    public var name: String
    /// Whether the policy is in force unless a program names another.
    public var isInForce: Bool
    /// The first paragraph of the file; empty if there is none.
    public var summary: String
    /// The errors of refused files with this name, one line each.
    public var refusals: [String]

    /// The entry as one line of JSON.
    public var json: String {
      let value: JSONValue = [
        "policy": .string(name), "inForce": .bool(isInForce), "layer": .optional(status?.layer.rawValue),
        "file": .optional(status?.path), "rules": status.map { .integer($0.ruleCount) } ?? .null,
        "states": status.map { .integer($0.stateCount) } ?? .null, "summary": .string(summary),
        "refused": .array(refusals.map(JSONValue.string)),
      ]
      return value.text(.compact)
    }
  }

  /// A policy as text and as JSON.
  public struct Export: Sendable {
    /// The text of the file.
    public var text: String
    /// The policy as indented JSON, in the form of ``Policies/schema``.
    public var json: String
    /// Warnings for the user, such as that another file is refused.
    public var warnings: [String]
  }

  /// All installed policies, including refused ones: the default first, then by name.
  public func list() -> [Entry] {
    let inForce = (try? status()).flatMap { $0.layer == .given ? nil : $0.name }
    return catalog.names().map { name in
      let selection = catalog.selection(named: name)
      let readings = selection.read()
      let choice = selection.choose(readings)
      let place = choice.chosen.flatMap { selection.sources.firstIndex(of: $0.source) }
      let text = place.flatMap { try? readings[$0].text() }
      return Entry(
        status: choice.chosen.map { Status(selection, readings, choice, $0) },
        name: name,
        isInForce: name == inForce,
        summary: text.map(Prose.firstParagraph) ?? "",
        refusals: choice.refusals.flatMap(\.fault.messages)
      )
    }
  }

  /// The policy in force, its file, and the reasons against other files.
  ///
  /// - Parameter argument: A name or a file; nil for the policy of the configuration.
  /// - Returns: The policy, with all places that were searched.
  /// - Throws: ``PolicyFileError`` if there is no valid policy.
  public func status(of argument: String? = nil) throws(PolicyFileError) -> Status {
    let policy = argument.map(ImageLoader.Configuration.Policy.named) ?? configuration.policy
    let selection = try catalog.selection(of: policy)
    let readings = selection.read()
    let choice = selection.choose(readings)
    guard let chosen = choice.chosen else { throw choice.fault }
    return Status(selection, readings, choice, chosen)
  }

  /// Exports a policy as text and as JSON.
  ///
  /// - Parameter argument: A name or a file.
  /// - Returns: Both forms of the policy.
  /// - Throws: ``PolicyFileError`` if the policy cannot be read.
  public func export(_ argument: String) throws(PolicyFileError) -> Export {
    let named = try named(argument)
    return Export(
      text: String(decoding: named.text, as: UTF8.self),
      json: named.table.json.text(.indented),
      warnings: named.warnings
    )
  }

  /// Completes the name or path of a policy, for a shell.
  ///
  /// - Parameter start: The typed text.
  /// - Returns: The completed words: names, then files and folders.
  public func completions(of start: String) -> [String] {
    let folder = start.lastIndex(of: "/").map { String(start[...$0]) } ?? ""
    let files = ((try? PolicyFile.files(in: folder.isEmpty ? "." : folder)) ?? []).compactMap { file in
      let path = folder + (file.path.split(separator: "/").last ?? "")
      if PolicyFile(path: path).isFolder { return path + "/" }
      return file.holdsPolicy || file.holdsCases ? path : nil
    }
    return (catalog.names() + files).filter { $0.hasPrefix(start) }
  }
}

extension ImageLoader {
  /// The policy in force as one line of JSON, in the form of ``Policies/schema``.
  package var policyJSON: String { policy.current().table.json.text(.compact) }
}

/// The description of a policy in its file.
enum Prose {
  /// The first paragraph that is neither a heading nor a table, or the `description` of JSON; one line, or empty.
  static func firstParagraph(_ text: [UInt8]) -> String {
    if case .object(let object)? = try? JSONReader.value(in: text) {
      return line(object["description"]?.text ?? "")
    }
    var paragraph: [Substring] = []
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    {
      let words = line.drop { $0.isWhitespace }
      if words.isEmpty || words.hasPrefix("#") {
        if paragraph.isEmpty { continue }
        break
      }
      if words.hasPrefix("|") || words.hasPrefix("<!--") || words.hasPrefix("```") { break }
      paragraph.append(words)
    }
    return line(paragraph.joined(separator: " "))
  }

  /// The text on one line, with single spaces and without control characters.
  private static func line(_ text: String) -> String {
    text.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
      .filter { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }
  }
}

public import Feedimg
import FeedimgJSON
import FeedimgPolicy

extension Policies {
  /// One policy of the shelf.
  public struct Entry: Sendable {
    /// What stands in force under the name, and what is refused; nil where nothing is in order.
    public var standing: Standing?
    /// The name.
    public var name: String
    /// Whether it decides unless another is asked for.
    public var isInForce: Bool
    /// What the file says about it in its first paragraph; empty where it says nothing.
    public var summary: String
    /// Why files of that name are refused, a line each.
    public var refusals: [String]

    /// The same as one line of JSON.
    public var json: String {
      let value: JSONValue = [
        "policy": .string(name), "inForce": .bool(isInForce), "layer": .optional(standing?.layer.rawValue),
        "file": .optional(standing?.path), "rules": standing.map { .integer($0.ruleCount) } ?? .null,
        "states": standing.map { .integer($0.stateCount) } ?? .null, "summary": .string(summary),
        "refused": .array(refusals.map(JSONValue.string)),
      ]
      return value.text(.compact)
    }
  }

  /// A policy as its author wrote it, and in its machine form.
  public struct Export: Sendable {
    /// The text of its file.
    public var text: String
    /// The machine form, as ``Policies/schema`` describes it, indented.
    public var json: String
    /// What the user should know, such as that another file is refused.
    public var warnings: [String]
  }

  /// All policies of the shelf: the default first, then by name.
  ///
  /// - Returns: Those that are refused included.
  public func list() -> [Entry] {
    let inForce = (try? standing()).flatMap { $0.layer == .given ? nil : $0.name }
    return shelf.names().map { name in
      let selection = shelf.selection(named: name)
      let readings = selection.read()
      let choice = selection.choose(readings)
      let place = choice.chosen.flatMap { selection.sources.firstIndex(of: $0.source) }
      let text = place.flatMap { try? readings[$0].text() }
      return Entry(
        standing: choice.chosen.map { Standing(selection, readings, choice, $0) },
        name: name,
        isInForce: name == inForce,
        summary: text.map(Prose.firstParagraph) ?? "",
        refusals: choice.refusals.flatMap(\.fault.messages)
      )
    }
  }

  /// Which policy decides, where it comes from, and why no other one does.
  ///
  /// - Parameter argument: A name or a file; nil for what the configuration asks for.
  /// - Returns: The policy with all places that were looked at.
  /// - Throws: ``PolicyFault`` where there is none that is in order.
  public func standing(of argument: String? = nil) throws(PolicyFault) -> Standing {
    let policy = argument.map(ImageLoader.Configuration.Policy.named) ?? configuration.policy
    let selection = try shelf.selection(of: policy)
    let readings = selection.read()
    let choice = selection.choose(readings)
    guard let chosen = choice.chosen else { throw choice.fault }
    return Standing(selection, readings, choice, chosen)
  }

  /// A policy for other programs, or to begin one's own with.
  ///
  /// - Parameter argument: A name or a file.
  /// - Returns: The text and the machine form.
  /// - Throws: ``PolicyFault`` where it cannot be read.
  public func export(_ argument: String) throws(PolicyFault) -> Export {
    let asked = try asked(argument)
    return Export(
      text: String(decoding: asked.text, as: UTF8.self),
      json: asked.table.json.text(.indented),
      warnings: asked.warnings
    )
  }

  /// What may follow what someone has typed where a policy is expected: names, files and folders.
  ///
  /// - Parameter start: What has been typed.
  /// - Returns: Whole words, the names first.
  public func completions(of start: String) -> [String] {
    let folder = start.lastIndex(of: "/").map { String(start[...$0]) } ?? ""
    let files = ((try? PolicyFile.files(in: folder.isEmpty ? "." : folder)) ?? []).compactMap { file in
      let path = folder + (file.path.split(separator: "/").last ?? "")
      if PolicyFile(path: path).isFolder { return path + "/" }
      return file.holdsPolicy || file.holdsCases ? path : nil
    }
    return (shelf.names() + files).filter { $0.hasPrefix(start) }
  }
}

/// What the author of a policy says about it beside the table.
enum Prose {
  /// The first paragraph of a Markdown text that is neither a heading nor a table, or the `description` of JSON.
  ///
  /// - Parameter text: The file of a policy.
  /// - Returns: One line; empty where the file begins with the table.
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

  /// In single spaces and without control characters, as it is shown in a list.
  private static func line(_ text: String) -> String {
    text.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
      .filter { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }
  }
}

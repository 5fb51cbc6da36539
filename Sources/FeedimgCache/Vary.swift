package import FeedimgModel

/// Which fields of a request an answer depends on (RFC 9110 §12.5.5).
package struct Vary: Sendable, Hashable {
  /// In lower case, in order, each once.
  package var names: [String]
  /// Whether it depends on more than the request says, so that it answers no other request.
  package var isOpen: Bool

  package init(_ fields: HTTPFields) {
    let elements = (fields["Vary"] ?? "").split(separator: ",").map(Self.normal).filter { !$0.isEmpty }
    isOpen = elements.contains("*")
    names = Set(elements).subtracting(["*"]).sorted()
  }

  /// The fields of a request that have to be kept with the answer.
  package func select(from request: HTTPFields) -> HTTPFields {
    HTTPFields(request.fields.filter { names.contains($0.name.lowercased()) })
  }

  /// Whether an answer to one request may answer another (RFC 9111 §4.1).
  ///
  /// Fields match when they are both absent, or the same but for the white space around their elements.
  package func matches(_ stored: HTTPFields, _ request: HTTPFields) -> Bool {
    !isOpen && names.allSatisfy { Self.elements(stored[$0]) == Self.elements(request[$0]) }
  }

  /// A number that is the same for requests which say the same.
  func digest(of request: HTTPFields) -> UInt64 {
    let lines = names.map { name in
      // What is absent differs from what is empty.
      name + (Self.elements(request[name]).map { ":" + $0.joined(separator: ",") } ?? "")
    }
    return Checksum.of(lines.joined(separator: "\n"))
  }

  private static func elements(_ value: String?) -> [String]? {
    value.map { QuotedList.split($0).map { String(trimmed($0)) } }
  }

  private static func normal(_ text: Substring) -> String { trimmed(text).lowercased() }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop { $0 == " " || $0 == "\t" }
    return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
  }
}

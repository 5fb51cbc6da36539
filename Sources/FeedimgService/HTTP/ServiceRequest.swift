import FeedimgModel

/// What a client asks for, with the whole of its body.
struct ServiceRequest: Sendable {
  var method: String
  var target: RequestTarget
  var fields: HTTPFields
  var body: [UInt8]
  /// Whether the client is sent sealed bodies for less than bytes.
  var takesCopies = false

  init(
    _ method: String,
    _ target: RequestTarget,
    fields: HTTPFields = HTTPFields(),
    body: [UInt8] = []
  ) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
  }

  /// What part is wanted; methods other than `GET` have none (RFC 9110 §14.2).
  var range: String? { method == "GET" ? fields["Range"] : nil }

  /// Whether `Cache-Control` has a directive (RFC 9111 §5.2.1).
  func asksCaches(for directive: String) -> Bool {
    (fields["Cache-Control"] ?? "").split(separator: ",").contains { $0.trimmed.lowercased() == directive }
  }

  /// The media type of the body in lower case, without its parameters; nil where the client tells none.
  var mediaType: String? {
    fields["Content-Type"]?.split(separator: ";", omittingEmptySubsequences: false).first
      .map { $0.trimmed.lowercased() }
  }
}

extension StringProtocol {
  /// Without the spaces and tabs around it, which HTTP allows around most values (RFC 9110 §5.6.3).
  var trimmed: SubSequence {
    func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
    guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) })
    else { return self[startIndex..<startIndex] }
    return self[first...last]
  }
}

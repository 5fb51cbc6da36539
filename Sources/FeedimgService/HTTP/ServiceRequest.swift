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

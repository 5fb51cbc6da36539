package import FeedimgModel

/// What an answer is kept under that serves requests for one URL by one asker (RFC 9111 §2).
package struct AnswerKey: Sendable, Hashable {
  /// Of all variants together.
  package let text: String

  /// - Parameters:
  ///   - url: What is asked for.
  ///   - request: What is sent; who brings credentials shares with nobody who brings others.
  package init(_ url: ImageURL, _ request: HTTPFields) {
    let credentials = ["Authorization", "Cookie"].compactMap { request[$0] }
    let mark = credentials.isEmpty ? "" : " by \(Self.hash(credentials))"
    text = url.key + mark
  }

  /// What the variant is kept under that a request selects.
  package func text(of vary: Vary, _ request: HTTPFields) -> String {
    "\(text) for \(Self.hash(vary.names.map { "\($0):\(Self.normal(request[$0]))" }))"
  }

  /// What tells requests apart that may be answered differently, as nobody knows yet what answers depend on.
  package static func identity(_ fields: HTTPFields) -> String {
    hash(fields.fields.map { "\($0.name.lowercased()):\($0.value)" }.sorted())
  }

  /// Of parts that contain no line ends, which fields never do.
  private static func hash(_ parts: [String]) -> String {
    Checksum.of(parts.joined(separator: "\n")).hexadecimal
  }

  /// Absent is not the same as empty.
  private static func normal(_ value: String?) -> String {
    value.map { "=" + $0.filter { $0 != " " && $0 != "\t" } } ?? ""
  }
}

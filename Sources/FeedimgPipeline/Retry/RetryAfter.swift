import FeedimgModel

/// Reads `Retry-After`, the time that a server asks clients to wait (RFC 9110 §10.2.3).
enum RetryAfter {
  /// Reads the field.
  ///
  /// A date counts from the server's own `Date`, since clocks differ. Without `Date`, it counts from `now`.
  ///
  /// - Parameters:
  ///   - fields: The fields of the response.
  ///   - now: Seconds since 1970.
  /// - Returns: Whole seconds from now, at least 0; nil if the field is absent or invalid.
  static func seconds(_ fields: HTTPFields, now: Int) -> Int? {
    guard let text = fields["retry-after"] else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number too large for `Int` still means a long wait.
      return text.isEmpty ? nil : Int(text) ?? .max
    }
    guard let date = HTTPDate.seconds(text, now: now) else { return nil }
    let reference = fields["date"].flatMap { HTTPDate.seconds($0, now: now) } ?? now
    return max(0, date - reference)
  }
}

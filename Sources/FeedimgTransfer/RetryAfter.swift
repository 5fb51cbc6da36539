package import FeedimgModel

/// Reads how long a server asks to be left alone (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// Reads the field.
  ///
  /// A date is taken relative to the server's own `Date`, as clocks differ, and to `now` where there is none.
  ///
  /// - Parameters:
  ///   - fields: Those of the answer.
  ///   - now: Seconds since 1970.
  /// - Returns: Whole seconds from now, never negative; nil where the field is absent or makes no sense.
  package static func seconds(_ fields: HTTPFields, now: Int) -> Int? {
    guard let text = fields["retry-after"] else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // More digits than fit still mean: not for a long time.
      return text.isEmpty ? nil : Int(text) ?? .max
    }
    guard let date = HTTPDate.seconds(text, now: now) else { return nil }
    let reference = fields["date"].flatMap { HTTPDate.seconds($0, now: now) } ?? now
    return max(0, date - reference)
  }
}

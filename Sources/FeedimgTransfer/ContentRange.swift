/// The value of `Content-Range` in bytes (RFC 9110 §14.4).
package enum ContentRange: Hashable {
  /// From the first to the last byte, both inclusive, of a whole that may be of unknown length.
  case part(ClosedRange<Int>, whole: Int?)
  /// No such range; the whole has that length.
  case unsatisfied(whole: Int)

  /// Nil where the value is no range, has another unit, or makes no sense.
  package init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let whole = Self.number(parts[1])
    guard whole != nil || parts[1] == "*" else { return nil }
    if parts[0] == "*" {
      guard let whole else { return nil }
      self = .unsatisfied(whole: whole)
      return
    }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
      last < whole ?? .max
    else { return nil }
    self = .part(first...last, whole: whole)
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}

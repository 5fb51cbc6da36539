/// The part of a body that the field `Range` asks for (RFC 9110 §14).
enum ByteRange: Sendable, Hashable {
  /// The whole body: the field is absent or ignored.
  case whole
  case part(Range<Int>)
  /// The range begins after the end of the body.
  case unsatisfiable

  /// Reads the field `Range`.
  ///
  /// Several ranges and malformed ranges are ignored, as the RFC allows.
  ///
  /// - Parameters:
  ///   - field: Such as `bytes=0-99`, `bytes=100-` or `bytes=-100`; nil if it is absent.
  ///   - length: The length of the whole body in bytes.
  init(_ field: String?, length: Int) {
    self = .whole
    guard let field, field.prefix(6).lowercased() == "bytes=" else { return }
    let range = field.dropFirst(6).trimmed
    guard !range.contains(","), let dash = range.firstIndex(of: "-") else { return }
    let (first, last) = (range[..<dash], range[range.index(after: dash)...])
    guard let start = Self.number(first) else {
      guard first.isEmpty, let count = Self.number(last) else { return }
      self = count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
      return
    }
    if last.isEmpty {
      self = start < length ? .part(start..<length) : .unsatisfiable
    } else if let end = Self.number(last), start <= end {
      self = start < length ? .part(start..<min(length, end == .max ? end : end + 1)) : .unsatisfiable
    }
  }

  /// Reads digits; a number that does not fit becomes the largest one.
  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text) ?? .max
  }
}

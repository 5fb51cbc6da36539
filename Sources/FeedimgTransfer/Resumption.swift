package import FeedimgModel

/// How to go on with a body that broke off (RFC 9110 §13.1.5 and §14).
///
/// Only where a strong validator makes sure that the rest belongs to what is there already; anything else would put two
/// images together. A server that has not said whether it serves ranges may be asked for one all the same (§14.3): at
/// worst it sends everything again.
package struct Resumption: Sendable, Hashable {
  /// What the answer to a request with ``fields`` means for the bytes that are kept.
  package enum Step: Sendable, Hashable {
    /// The body follows the bytes that are kept; it may end before the whole does, and then be gone on with again.
    case append
    /// The body is all of the image, which has probably changed.
    case replace
    /// Nothing is missing: the bytes that are kept are the whole body.
    case complete
    /// The bytes that are kept are of no use, and neither is the body: ask again without ``fields``.
    case startOver
    /// An error, to be treated like any other.
    case answer
  }

  /// The bytes that are kept.
  package let offset: Int
  /// The length of the whole, where it is known.
  package let total: Int?
  /// The value of `If-Range`.
  package let validator: String
  /// Whether the server has said that it serves ranges, or has sent one, so that the rest alone will come.
  package let isPromised: Bool
  /// Of the server that sent the bytes; what others call by the same tag may be another image.
  private let origin: Origin

  /// Nil where it is not safe or not possible to go on.
  ///
  /// - Parameters:
  ///   - head: That of the answer the bytes came with, or, of several, of the last one.
  ///   - kept: How many bytes there are, from the first one of the whole.
  ///   - now: Seconds since 1970.
  package init?(_ head: ResponseHead, kept: Int, now: Int) {
    guard kept > 0, !head.forbidsKeeping, let validator = Self.strongValidator(head.fields, now: now) else {
      return nil
    }
    switch head.status {
    case 200:
      let units = head.fields["accept-ranges"].map { $0.lowercased().split { $0 == "," || $0 == " " } }
      guard units?.contains("bytes") ?? true else { return nil }
      isPromised = units != nil
      total = head.contentLength
    case 206:
      guard case .part(_, let whole)? = head.fields["content-range"].flatMap({ ContentRange($0) }) else {
        return nil
      }
      (total, isPromised) = (whole, true)
    default: return nil
    }
    guard kept < total ?? .max else { return nil }
    offset = kept
    origin = Origin(head.url)
    self.validator = validator
  }

  /// The fields to send, beside those of any request for the image.
  package var fields: HTTPFields {
    HTTPFields([
      HTTPFields.Field(name: "Range", value: "bytes=\(offset)-"),
      HTTPFields.Field(name: "If-Range", value: validator),
    ])
  }

  /// Decides before the first byte of the body is kept.
  ///
  /// - Parameter head: The answer to a request with ``fields``.
  /// - Returns: What to do with the bytes that are kept, and with the body.
  package func step(_ head: ResponseHead) -> Step {
    let range = head.fields["content-range"].flatMap { ContentRange($0) }
    switch (head.status, range) {
    case (206, .part(let part, let whole)?):
      return fits(part, whole, head) ? .append : .startOver
    case (206, _):
      return .startOver
    case (200, _), (203, _):
      return .replace
    case (416, .unsatisfied(let whole)?):
      // Servers need not look at `If-Range` for a range that lies outside.
      return whole == offset && total ?? offset == whole && isSame(head) ? .complete : .startOver
    case (416, _):
      return .startOver
    default:
      // What is neither an error nor an image, such as a 304 that nobody asked for, would come again and again.
      return head.status < 400 ? .startOver : .answer
    }
  }

  /// The head that the whole has after its rest arrived with `part` (RFC 9111 §3.4).
  package func whole(after part: ResponseHead) -> ResponseHead {
    guard case .part(_, let whole)? = part.fields["content-range"].flatMap({ ContentRange($0) }) else {
      return part
    }
    var head = part
    head.status = 200
    head.contentLength = whole ?? total
    head.fields.fields.removeAll { $0.isNamed("content-range") || $0.isNamed("content-length") }
    if let length = head.contentLength {
      head.fields.fields.append(HTTPFields.Field(name: "Content-Length", value: String(length)))
    }
    return head
  }

  /// Whether the part begins where the kept bytes end, and is of the same whole.
  private func fits(_ part: ClosedRange<Int>, _ whole: Int?, _ head: ResponseHead) -> Bool {
    guard part.lowerBound == offset, isSame(head) else { return false }
    if let whole, let total, whole != total { return false }
    return head.contentLength.map { $0 == part.count } ?? true
  }

  /// Whether an answer is about the version that is kept, as far as its own validators tell.
  ///
  /// A server that has not looked at `If-Range` shows by them. With a part a server must repeat the tag it would send
  /// with the whole, but not the date (RFC 9110 §15.3.7); a refusal says nothing unless it repeats either, as it need
  /// not look at `If-Range` at all.
  private func isSame(_ head: ResponseHead) -> Bool {
    guard Origin(head.url) == origin else { return false }
    let tag = head.fields["etag"]
    if validator.hasPrefix("\"") { return tag == validator }
    guard tag == nil else { return false }
    return head.fields["last-modified"].map { $0 == validator } ?? (head.status == 206)
  }

  /// A strong entity tag, or else a date that cannot stand for two versions.
  ///
  /// A date is strong when the answer was made at least a minute after it (RFC 7232 §2.2.2; RFC 9110 §8.8.2.2 asks for a
  /// second, and for clocks that agree).
  private static func strongValidator(_ fields: HTTPFields, now: Int) -> String? {
    if let tag = fields["etag"] {
      // One strong tag, and no list of them.
      let quote = UInt8(ascii: "\"")
      guard tag.utf8.count >= 2, tag.utf8.first == quote, tag.utf8.last == quote,
        !tag.utf8.dropFirst().dropLast().contains(quote)
      else { return nil }
      return tag
    }
    guard let text = fields["last-modified"], let modified = HTTPDate.seconds(text, now: now),
      let date = fields["date"].flatMap({ HTTPDate.seconds($0, now: now) }), date - modified >= 60
    else { return nil }
    return text
  }
}

extension ResponseHead {
  /// Whether not even a part may be stored (RFC 9111 §5.2.2.5).
  fileprivate var forbidsKeeping: Bool {
    let directives = fields["cache-control"]?.lowercased().split(separator: ",") ?? []
    return directives.contains { $0.drop { $0 == " " }.prefix { $0 != " " && $0 != "=" } == "no-store" }
  }
}
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

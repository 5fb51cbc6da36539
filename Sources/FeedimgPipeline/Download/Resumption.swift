import FeedimgHTTPCache
import FeedimgModel

/// A range request that resumes an interrupted download (RFC 9110 §13.1.5 and §14).
///
/// A download resumes only with a strong validator. Without one, the bytes of two images could be joined.
///
/// A client may request a range even if the server has not announced range support (§14.3). A server without
/// range support sends the complete body again.
struct Resumption: Sendable, Hashable {
  /// How to use the response to a request with ``fields``.
  enum Step: Sendable, Hashable {
    /// Append the body to the stored bytes; if the download is still incomplete afterwards, it may resume
    /// again.
    case append
    /// Replace the stored bytes: the body is complete, and the image has probably changed.
    case replace
    /// Keep the stored bytes: they are the complete body.
    case complete
    /// Discard the stored bytes and this body, and send the request again without ``fields``.
    case startOver
    /// Handle the response as an error; the stored bytes stay valid.
    case error
  }

  /// The number of stored bytes.
  let offset: Int
  /// The length of the complete body, if known.
  let total: Int?
  /// The value of `If-Range`.
  let validator: String
  /// Whether the server has announced range support or has already sent a range.
  let supportsRanges: Bool
  /// The origin of the stored bytes; on another origin, the same entity tag may identify another image.
  private let origin: String

  /// Creates the request for the rest of a body; nil if resuming is unsafe or impossible.
  ///
  /// - Parameters:
  ///   - head: The head of the latest response that delivered stored bytes.
  ///   - kept: The number of stored bytes, counted from the start of the body.
  ///   - now: Seconds since 1970.
  init?(_ head: ResponseHead, kept: Int, now: Int) {
    guard kept > 0, storageAllowed(head: head),
      let validator = Validators(of: head.fields, now: now).rangeCondition
    else { return nil }
    switch head.status {
    case 200:
      let units = head.fields["accept-ranges"].map { $0.lowercased().split { $0 == "," || $0 == " " } }
      guard units?.contains("bytes") ?? true else { return nil }
      supportsRanges = units != nil
      total = head.contentLength
    case 206:
      guard case .part(_, let whole)? = head.contentRange else { return nil }
      (total, supportsRanges) = (whole, true)
    default: return nil
    }
    guard kept < total ?? .max else { return nil }
    offset = kept
    origin = head.url.origin
    self.validator = validator
  }

  /// The additional request fields.
  var fields: HTTPFields {
    HTTPFields([
      HTTPFields.Field(name: "Range", value: "bytes=\(offset)-"),
      HTTPFields.Field(name: "If-Range", value: validator),
    ])
  }

  /// Decides how to use a response, before its body arrives.
  ///
  /// - Parameter head: The head of the response to a request with ``fields``.
  /// - Returns: The use of the body.
  func step(_ head: ResponseHead) -> Step {
    switch (head.status, head.contentRange) {
    case (206, .part(let part, let whole)?):
      return fits(part, whole, head) ? .append : .startOver
    case (206, _):
      return .startOver
    case (200, _), (203, _):
      return .replace
    case (416, .unsatisfied(let whole)?):
      // A server may ignore `If-Range` if the range starts after the end, so the validators decide.
      return whole == offset && total ?? offset == whole && isSameVersion(head) ? .complete : .startOver
    case (416, _):
      return .startOver
    default:
      // Resuming again after another response, such as an unexpected 304, would yield the same response.
      return head.status < 400 ? .startOver : .error
    }
  }

  /// The length of the complete body, from a part that delivers the rest or from the stored response.
  ///
  /// Nil if neither knows it.
  func completeLength(after part: ResponseHead) -> Int? {
    guard case .part(_, let whole?)? = part.contentRange else { return total }
    return whole
  }

  /// Whether the part starts where the stored bytes end and belongs to the same version.
  private func fits(_ part: ClosedRange<Int>, _ whole: Int?, _ head: ResponseHead) -> Bool {
    guard part.lowerBound == offset, isSameVersion(head) else { return false }
    if let whole, let total, whole != total { return false }
    return head.contentLength.map { $0 == part.count } ?? true
  }

  /// Whether the validators of a response match those of the stored bytes.
  ///
  /// The check detects servers that ignore `If-Range`. A 206 must repeat the entity tag, but may omit the
  /// date (RFC 9110 §15.3.7). A 416 must repeat the validator, because a server may send it without
  /// evaluating `If-Range`.
  private func isSameVersion(_ head: ResponseHead) -> Bool {
    guard head.url.origin == origin else { return false }
    let tag = head.fields["etag"]
    if validator.hasPrefix("\"") { return tag == validator }
    guard tag == nil else { return false }
    return head.fields["last-modified"].map { $0 == validator } ?? (head.status == 206)
  }
}

extension ResponseHead {
  /// The range of the body; nil if the field is missing or invalid.
  var contentRange: ContentRange? { fields["content-range"].flatMap { ContentRange($0) } }
}

/// The value of `Content-Range` in bytes (RFC 9110 §14.4).
enum ContentRange: Hashable {
  /// The range that the body holds, and the length of the complete body if known.
  case part(ClosedRange<Int>, whole: Int?)
  /// The server cannot satisfy the requested range of a body with this length.
  case unsatisfied(whole: Int)

  /// Reads the field; nil for an invalid value or another unit.
  init?(_ text: String) {
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

  /// The largest position, so that sums of positions and lengths never overflow.
  private static let maximum = 1 << 53

  private static func number(_ text: Substring) -> Int? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else { return nil }
    return number <= maximum ? number : nil
  }
}

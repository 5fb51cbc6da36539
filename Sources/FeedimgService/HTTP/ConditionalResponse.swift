import FeedimgModel
import Glibc

/// The part of a body that a conditional or range request gets (RFC 9110 §13.2.2, RFC 9111 §4.3.2).
enum ConditionalResponse: Sendable, Hashable {
  case full
  /// The client has the current body.
  case notModified
  case partial(Range<Int>)
  case rangeNotSatisfiable

  /// - Parameters:
  ///   - fields: The fields of the response with status 200.
  ///   - request: The request with its conditions and its range.
  ///   - length: The length of the body in bytes; nil if it is unknown, which rules out a partial response.
  init(of fields: HTTPFields, _ request: ServiceRequest, length: Int?) {
    guard !Self.isCurrent(fields, request.fields) else {
      self = .notModified
      return
    }
    guard let length, let range = request.range, Self.rangeApplies(fields, request.fields) else {
      self = .full
      return
    }
    switch ByteRange(range, length: length) {
    case .whole: self = .full
    case .part(let range): self = .partial(range)
    case .unsatisfiable: self = .rangeNotSatisfiable
    }
  }

  private static func isCurrent(_ fields: HTTPFields, _ request: HTTPFields) -> Bool {
    if let list = request["If-None-Match"] {
      let list = EntityTagList(list)
      return fields["ETag"].map { list.contains($0) } ?? list.isAny
    }
    guard let since = request["If-Modified-Since"].flatMap(seconds) else { return false }
    // A response without Last-Modified counts as modified on its Date (RFC 9111 §4.3.2).
    guard let changed = (fields["Last-Modified"] ?? fields["Date"]).flatMap(seconds) else { return false }
    return changed <= since
  }

  /// Whether `If-Range` allows a partial response: the same strong tag, or the same date (RFC 9110 §13.1.5).
  private static func rangeApplies(_ fields: HTTPFields, _ request: HTTPFields) -> Bool {
    guard let condition = request["If-Range"]?.trimmed else { return true }
    if condition.hasPrefix("\"") { return fields["ETag"].map { $0 == condition } ?? false }
    return fields["Last-Modified"].map { $0 == condition } ?? false
  }

  private static func seconds(_ date: String) -> Int? { HTTPDate.seconds(date, now: time(nil)) }
}

extension Range<Int> {
  /// Describes this part of a body.
  ///
  /// - Parameter length: The length of the whole body in bytes.
  /// - Returns: The value of `Content-Range`.
  func contentRange(of length: Int) -> String { "bytes \(lowerBound)-\(upperBound - 1)/\(length)" }
}

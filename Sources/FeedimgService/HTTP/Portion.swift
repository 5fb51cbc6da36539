import FeedimgModel
import Glibc

/// What a client is to get of an answer that is there in whole (RFC 9110 §13.2.2, RFC 9111 §4.3.2).
enum Portion: Sendable, Hashable {
  case whole
  /// It has that already.
  case notModified
  case part(Range<Int>)
  case unsatisfiable

  /// - Parameters:
  ///   - fields: Those of the answer, whose status is 200.
  ///   - request: What the client wants, and has.
  ///   - length: The length of the body; nil where only its end will tell, so that it has no parts.
  init(of fields: HTTPFields, _ request: ServiceRequest, length: Int?) {
    guard !Self.isKnown(fields, request.fields) else {
      self = .notModified
      return
    }
    guard let length, Self.mayPart(fields, request.fields) else {
      self = .whole
      return
    }
    switch ByteRange(request.range, length: length) {
    case .whole: self = .whole
    case .part(let range): self = .part(range)
    case .unsatisfiable: self = .unsatisfiable
    }
  }

  private static func isKnown(_ fields: HTTPFields, _ request: HTTPFields) -> Bool {
    if let list = request["If-None-Match"] {
      let list = EntityTagList(list)
      return fields["ETag"].map { list.names($0) } ?? list.isAny
    }
    guard let since = request["If-Modified-Since"].flatMap(seconds) else { return false }
    // What does not tell when it changed has changed when it was made (RFC 9111 §4.3.2).
    guard let changed = (fields["Last-Modified"] ?? fields["Date"]).flatMap(seconds) else { return false }
    return changed <= since
  }

  /// Whether `If-Range` lets a part be sent: by the same strong tag, or the same date (RFC 9110 §13.1.5).
  private static func mayPart(_ fields: HTTPFields, _ request: HTTPFields) -> Bool {
    guard let condition = request["If-Range"]?.trimmed else { return true }
    if condition.hasPrefix("\"") { return fields["ETag"].map { $0 == condition } ?? false }
    return fields["Last-Modified"].map { $0 == condition } ?? false
  }

  private static func seconds(_ date: String) -> Int? { HTTPDate.seconds(date, now: time(nil)) }
}

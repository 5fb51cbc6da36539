import FeedimgHTTPCache
import FeedimgModel
import Glibc

/// The part of a body that a conditional or range request gets (RFC 9110 §13.2.2, RFC 9111 §4.3.2).
enum ResponseSelection: Sendable, Hashable {
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
    let applies = length != nil && Self.rangeApplies(fields, request.fields)
    self.init(range: applies ? request.range : nil, length: length ?? 0)
  }

  /// Reads the field `Range` (RFC 9110 §14); several ranges and malformed ranges are ignored, as the RFC allows.
  init(range: String?, length: Int) {
    self = .full
    guard let range, range.prefix(6).lowercased() == "bytes=" else { return }
    let ends = range.dropFirst(6).trimmed.split(
      separator: "-",
      maxSplits: 1,
      omittingEmptySubsequences: false
    )
    guard ends.count == 2 else { return }
    guard let start = Self.number(ends[0]) else {
      guard ends[0].isEmpty, let count = Self.number(ends[1]) else { return }
      self = count == 0 || length == 0 ? .rangeNotSatisfiable : .partial(max(0, length - count)..<length)
      return
    }
    guard let last = ends[1].isEmpty ? .max : Self.number(ends[1]), start <= last else { return }
    self = start < length ? .partial(start..<(last < length ? last + 1 : length)) : .rangeNotSatisfiable
  }

  /// Reads digits; a number that does not fit becomes the largest one.
  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text) ?? .max
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
    guard let condition = request["If-Range"]?[...].trimmed else { return true }
    if condition.hasPrefix("\"") { return fields["ETag"].map { $0 == condition } ?? false }
    return fields["Last-Modified"].map { $0 == condition } ?? false
  }

  private static func seconds(_ date: String) -> Int? { HTTPDate.seconds(date, now: time(nil)) }
}

extension ServiceResponse {
  /// Makes this a response with a part of a body of this length.
  mutating func become(_ range: Range<Int>, of length: Int, _ part: Body) {
    (status, body) = (206, part)
    let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
    fields.fields.append(HTTPFields.Field(name: "Content-Range", value: place))
  }
}

extension Problem {
  /// The problem of a range that begins after the end of a body.
  static func range(beyond length: Int, of name: String, _ fields: [(String, String)]) -> Problem {
    Problem(416, "the \(name) has \(length) bytes", fields: fields + [("Content-Range", "bytes */\(length)")])
  }
}

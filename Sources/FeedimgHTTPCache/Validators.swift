package import FeedimgModel

/// The validators of a response, which tell versions of an image apart (RFC 9110 §8.8).
package struct Validators: Sendable, Hashable {
  /// The value of `ETag`, with quotes and `W/`.
  package var entityTag: String?
  /// The value of `Last-Modified`.
  package var lastModified: String?
  /// Whether the date is a strong validator: it precedes the response by at least a minute, and there is no tag.
  ///
  /// RFC 9110 §8.8.2.2 asks for a second and a reason to trust the clocks; RFC 7232 asked for a minute. Even an
  /// invalid tag means that the date may not tell all versions apart.
  private var hasStrongDate = false

  package init(of response: StoredResponse) {
    self.init(of: response.head.fields, now: DeltaSeconds.whole(response.respondedAt))
  }

  /// - Parameters:
  ///   - fields: The fields of a response.
  ///   - now: Seconds since 1970, for the century of a year with two digits.
  package init(of fields: HTTPFields, now: Int) {
    let tag = fields["ETag"]
    entityTag = tag.flatMap { Self.isEntityTag($0) ? $0 : nil }
    guard let text = fields["Last-Modified"], let changed = HTTPDate.seconds(text, now: now) else { return }
    lastModified = text
    guard tag == nil, let date = fields["Date"].flatMap({ HTTPDate.seconds($0, now: now) }) else { return }
    hasStrongDate = date - changed >= 60
  }

  /// The fields that make a request conditional; empty without validators.
  ///
  /// A request sends both validators, as some servers know only one (RFC 9110 §13.1.3).
  package var conditions: HTTPFields {
    var fields: [HTTPFields.Field] = []
    if let entityTag { fields.append(.init(name: "If-None-Match", value: entityTag)) }
    if let lastModified { fields.append(.init(name: "If-Modified-Since", value: lastModified)) }
    return HTTPFields(fields)
  }

  /// The value of `If-Range`, which must be strong (RFC 9110 §13.1.5); nil without a strong validator.
  package var rangeCondition: String? {
    if let entityTag { return Self.isWeak(entityTag) ? nil : entityTag }
    return hasStrongDate ? lastModified : nil
  }

  /// Whether both describe the same version, or have no validators.
  package func isSameVersion(as other: Validators) -> Bool {
    entityTag == other.entityTag && lastModified == other.lastModified
  }

  /// Whether a 304 is about this version (RFC 9111 §4.3.4).
  ///
  /// A 304 without validators is about the version that the request named.
  package func match(notModified fields: HTTPFields) -> Bool {
    if let tag = fields["ETag"] {
      guard let entityTag else { return false }
      return Self.opaque(tag) == Self.opaque(entityTag)
    }
    if let date = fields["Last-Modified"] { return date == lastModified || lastModified == nil }
    return true
  }

  private static func isWeak(_ tag: String) -> Bool { tag.hasPrefix("W/") }

  private static func opaque(_ tag: String) -> Substring { isWeak(tag) ? tag.dropFirst(2) : tag[...] }

  private static func isEntityTag(_ text: String) -> Bool {
    let bytes = opaque(text).utf8
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
      return false
    }
    return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }
  }
}

extension HTTPFields {
  /// Whether a request with these fields may get a 304 (RFC 9110 §13.1.2, §13.1.3).
  package var isConditional: Bool { self["If-None-Match"] != nil || self["If-Modified-Since"] != nil }
}

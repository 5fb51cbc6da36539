import FeedimgModel

/// Fields that go out again and again, as text that was checked once (RFC 9112 §5).
struct FieldLines: Sendable {
  let fields: [HTTPFields.Field]
  /// A line for each, without the empty one that ends them.
  let bytes: [UInt8]

  /// - Returns: Nil where something is in a field that must not be there.
  init?(_ fields: [HTTPFields.Field]) {
    var bytes: [UInt8] = []
    for field in fields { guard field.append(to: &bytes) else { return nil } }
    (self.fields, self.bytes) = (fields, bytes)
  }
}

extension HTTPFields.Field {
  /// Appends the line of the field.
  ///
  /// - Returns: False where something is in it that must not be there; nothing is appended then.
  func append(to bytes: inout [UInt8]) -> Bool {
    guard isWellFormed else { return false }
    bytes.append(contentsOf: name.utf8)
    bytes.append(contentsOf: ": ".utf8)
    bytes.append(contentsOf: value.utf8)
    bytes.append(contentsOf: "\r\n".utf8)
    return true
  }
}

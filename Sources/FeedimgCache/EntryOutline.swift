/// What tells whether an image is there, read from the line of its record without making anything of the rest.
struct EntryOutline: Sendable, Hashable {
  var body: BodyName
  /// Of the body, in bytes.
  var size: Int
  var isPinned: Bool

  /// What a line says of a key.
  enum Finding: Hashable {
    case ours(EntryOutline)
    /// The line of another key with the same hash.
    case another
    /// No line of ours.
    case damaged
  }

  static func find(_ key: String, in line: UnsafeRawBufferPointer) -> Finding {
    guard var fields = EntryRecord.fields(of: line), let isOurs = fields.nextIs(key) else { return .damaged }
    guard isOurs else { return .another }
    guard let mark = fields.nextText().flatMap(EntryRecord.marked), fields.next() != nil,
      let body = fields.next().flatMap(BodyName.init(utf8:)), let size = fields.nextInteger(), size >= 0
    else { return .damaged }
    return .ours(EntryOutline(body: body, size: size, isPinned: mark.isPinned))
  }
}

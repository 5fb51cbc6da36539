import FeedimgModel

/// The form in which records stand in the index and in the catalogs: one line of text, with its own checksum.
///
/// Fields are parted by tabs; the first is the checksum of what follows it. The same line serves both places, so that
/// an index can be made from the catalogs, and a flipped bit shows in either.
extension EntryRecord {
  /// Of this form; lines of another are not read.
  private static let form = UInt8(ascii: "1")

  var line: [UInt8] {
    var fields = RecordFields(capacity: 256 + key.utf8.count + answer.count)
    fields.append(Self.form)
    fields.append(key)
    fields.append(mark)
    fields.append(mediaType)
    fields.append(body.text)
    fields.append(String(size))
    fields.append(checksum.hexadecimal)
    for time in [storedAt, requestedAt, respondedAt] { fields.append(String(Milliseconds.count(time))) }
    fields.append(raw: answer)
    return fields.sealed
  }

  /// The role by its first letter, a capital for what is pinned.
  private var mark: String {
    switch (role, isPinned) {
    case (.original, false): "o"
    case (.original, true): "O"
    case (.thumbnail, false): "t"
    case (.thumbnail, true): "T"
    }
  }

  static func marked(_ mark: String) -> (role: ImageVariant.Role, isPinned: Bool)? {
    switch mark {
    case "o": (.original, false)
    case "O": (.original, true)
    case "t": (.thumbnail, false)
    case "T": (.thumbnail, true)
    default: nil
    }
  }

  /// The fields of a line from the key on; nil for one that is damaged or of another form.
  static func fields(of line: UnsafeRawBufferPointer) -> RecordFields.Reader? {
    guard line.count > 17, line[16] == RecordFields.tab, let seal = UInt64(hexadecimal: line[..<16]) else {
      return nil
    }
    let content = UnsafeRawBufferPointer(rebasing: line[17...])
    guard Checksum.of(content) == seal else { return nil }
    var fields = RecordFields.Reader(content)
    guard let form = fields.next(), form.count == 1, form.first == Self.form else { return nil }
    return fields
  }

  /// Reads a line; nil for one that is damaged or of another form.
  init?(line: UnsafeRawBufferPointer) {
    // What has the right checksum was written by us, so that the rest can fail only by our own change of form.
    guard var fields = Self.fields(of: line),
      let key = fields.nextText(),
      let (role, isPinned) = fields.nextText().flatMap(Self.marked),
      let mediaType = fields.nextText(),
      let body = fields.next().flatMap(BodyName.init(utf8:)),
      let size = fields.nextInteger(), size >= 0,
      let checksum = fields.next().flatMap(UInt64.init(hexadecimal:)),
      let storedAt = fields.nextInteger(),
      let requestedAt = fields.nextInteger(),
      let respondedAt = fields.nextInteger()
    else { return nil }
    self.key = key
    self.role = role
    self.isPinned = isPinned
    self.mediaType = mediaType
    self.body = body
    self.size = size
    self.checksum = checksum
    self.storedAt = Milliseconds.seconds(storedAt)
    self.requestedAt = Milliseconds.seconds(requestedAt)
    self.respondedAt = Milliseconds.seconds(respondedAt)
    answer = Array(fields.rest)
  }
}

/// Times as they are recorded, safe for whatever a clock says.
enum Milliseconds {
  /// Some 285,000 years, so that sums never overflow.
  private static let limit = 9e15

  static func count(_ seconds: Double) -> Int {
    let value = (seconds * 1000).rounded()
    return value.isNaN ? 0 : Int(min(max(value, -limit), limit))
  }

  static func seconds(_ count: Int) -> Double { Double(count) / 1000 }
}

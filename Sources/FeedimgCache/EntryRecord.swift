import FeedimgModel
import Glibc

/// Everything about a stored image that does not change while its body stays the same.
struct EntryRecord: Sendable, Hashable {
  var key: String
  var role: ImageVariant.Role
  /// Whether it neither gives way nor expires.
  var isPinned = false
  var mediaType: String
  var body: BodyName
  /// Of the body, in bytes.
  var size: Int
  /// Of the body.
  var checksum: UInt64
  /// Seconds since 1970, to the millisecond, as all times here.
  var storedAt: Double
  var requestedAt: Double
  var respondedAt: Double
  /// What brought the body; made into a response only when that is asked for.
  var head: HeadRecord

  /// The index knows an entry by this; two keys that share it displace each other.
  var identifier: Int64 { Int64(bitPattern: body.keyHash) }

  var budget: Budget { isResponse ? .responses : isPinned ? .pinned : Budget(role) }

  /// Whether `GET /v1/fetch` stored the entry, so that it is not an image.
  var isResponse: Bool { ResponseKey.isResponse(key) }
}

extension EntryRecord {
  init(_ metadata: ImageMetadata, body: BodyName, size: Int, checksum: UInt64, storedAt: Double) {
    self.init(
      key: metadata.key,
      role: metadata.role,
      mediaType: metadata.mediaType,
      body: body,
      size: size,
      checksum: checksum,
      storedAt: storedAt,
      requestedAt: metadata.requestedAt ?? storedAt,
      respondedAt: metadata.respondedAt ?? storedAt,
      head: HeadRecord(metadata.head, varied: metadata.varied)
    )
  }

  /// The same entry, pinned or not.
  func pinned(_ isPinned: Bool) -> EntryRecord {
    var copy = self
    copy.isPinned = isPinned
    return copy
  }

  /// The same body with the news of a 304.
  func updated(by response: StoredResponse) -> EntryRecord {
    var copy = self
    copy.requestedAt = response.requestedAt
    copy.respondedAt = response.respondedAt
    copy.head = HeadRecord(response.head, varied: response.varied)
    return copy
  }

  func storedImage(path: String, usedAt: Double) -> StoredImage {
    StoredImage(
      key: VariantKey.url(key),
      role: role,
      path: path,
      size: ByteCount(size),
      checksum: checksum,
      mediaType: mediaType,
      storedAt: storedAt,
      usedAt: usedAt,
      isPinned: isPinned
    )
  }
}

/// The form in which records stand in archives and beside partial downloads: one line of text, with its own checksum.
///
/// Fields are parted by tabs; the first is the checksum of the rest. Indexes of versions 1 and 2 held such lines too.
extension EntryRecord {
  /// Of this form; lines of another are not read.
  private static let form = UInt8(ascii: "1")

  var line: [UInt8] {
    var fields = RecordFields(capacity: 512 + key.utf8.count + head.fields.count)
    fields.append(Self.form)
    fields.append(key)
    fields.append(mark)
    fields.append(mediaType)
    fields.append(body.text)
    fields.append(String(size))
    fields.append(checksum.hexadecimal)
    for time in [storedAt, requestedAt, respondedAt] { fields.append(String(Milliseconds.count(time))) }
    head.append(to: &fields)
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
      let respondedAt = fields.nextInteger(),
      let head = HeadRecord(&fields)
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
    self.head = head
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

/// Builds a text of fields parted by tabs; tabs, line ends and backslashes within them are escaped by a backslash.
struct RecordFields {
  static let tab = UInt8(ascii: "\t")
  private static let backslash = UInt8(ascii: "\\")
  private static let escapes: [(raw: UInt8, letter: UInt8)] = [
    (tab, UInt8(ascii: "t")), (UInt8(ascii: "\n"), UInt8(ascii: "n")), (backslash, backslash),
  ]

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte == tab || byte == UInt8(ascii: "\n") || byte == backslash
  }

  private(set) var bytes: [UInt8] = []
  private var isFirst = true

  /// - Parameter capacity: What is likely to be needed, in bytes.
  init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

  private mutating func part() {
    if !isFirst { bytes.append(Self.tab) }
    isFirst = false
  }

  mutating func append(_ byte: UInt8) {
    part()
    bytes.append(byte)
  }

  mutating func append(_ text: String) {
    part()
    var text = text
    text.withUTF8 { text in
      guard text.contains(where: Self.isEscaped) else { return bytes.append(contentsOf: text) }
      for byte in text {
        if let escape = Self.escapes.first(where: { $0.raw == byte }) {
          bytes += [Self.backslash, escape.letter]
        } else {
          bytes.append(byte)
        }
      }
    }
  }

  /// Appends fields, joined and escaped already.
  mutating func append(raw fields: some Sequence<UInt8>) {
    part()
    bytes += fields
  }

  /// All of it behind its checksum, as the first field.
  var sealed: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 17 + bytes.count) { buffer, count in
      Checksum.of(bytes).writeHexadecimal { digit in
        buffer.initializeElement(at: count, to: digit)
        count += 1
      }
      buffer.initializeElement(at: count, to: Self.tab)
      count = buffer[(count + 1)...].initialize(fromContentsOf: bytes)
    }
  }

  /// Reads such a text field by field.
  struct Reader {
    /// What has not been read yet; nil after the last field.
    private var remaining: UnsafeRawBufferPointer?

    init(_ bytes: UnsafeRawBufferPointer) { remaining = bytes }

    var rest: UnsafeRawBufferPointer { remaining ?? UnsafeRawBufferPointer(start: nil, count: 0) }

    /// The next field as it stands; nil after the last.
    mutating func next() -> UnsafeRawBufferPointer? {
      guard let bytes = remaining else { return nil }
      guard let start = bytes.baseAddress, let end = memchr(start, Int32(RecordFields.tab), bytes.count)
      else {
        remaining = nil
        return bytes
      }
      let length = UnsafeRawPointer(end) - start
      remaining = UnsafeRawBufferPointer(rebasing: bytes[(length + 1)...])
      return UnsafeRawBufferPointer(rebasing: bytes[..<length])
    }

    /// Whether the next field is this text; nil after the last.
    mutating func nextIs(_ text: String) -> Bool? {
      guard let field = next() else { return nil }
      guard !field.contains(RecordFields.backslash) else { return RecordFields.unescaped(field) == text }
      var text = text
      return text.withUTF8 { text in
        guard let wanted = text.baseAddress, let found = field.baseAddress else {
          return text.count == field.count
        }
        return text.count == field.count && memcmp(found, wanted, text.count) == 0
      }
    }

    mutating func nextInteger() -> Int? { next().flatMap { Int(String(decoding: $0, as: UTF8.self)) } }

    mutating func nextText() -> String? { next().map { RecordFields.unescaped($0) } }
  }

  private static func unescaped(_ field: UnsafeRawBufferPointer) -> String {
    guard field.contains(backslash) else { return String(decoding: field, as: UTF8.self) }
    var bytes: [UInt8] = []
    var isEscaped = false
    for byte in field {
      if isEscaped {
        bytes.append(escapes.first { $0.letter == byte }?.raw ?? byte)
        isEscaped = false
      } else if byte == backslash {
        isEscaped = true
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The head of a response as it is stored: names and values of its fields in turn, in the form of ``RecordFields``.
struct HeadRecord: Sendable, Hashable {
  var status: Int
  /// The content length, or `-`, followed by ` closing` where the body ended with the connection.
  var length: String
  var url: String
  var fields: [UInt8]
  /// The fields of the request that `Vary` names; a `>` precedes each name, which no name may contain.
  var varied: [UInt8]

  private static let requestMark = UInt8(ascii: ">")
  private static let closing = " closing"
}

extension HeadRecord {
  init(_ head: ResponseHead, varied: HTTPFields) {
    var (fields, request) = (RecordFields(), RecordFields(capacity: 64))
    for field in head.fields.storable.fields {
      fields.append(field.name)
      fields.append(field.value)
    }
    for field in varied.fields {
      request.append(">" + field.name)
      request.append(field.value)
    }
    self.init(
      status: head.status,
      length: (head.contentLength.map(String.init) ?? "-") + (head.endsByClosing ? Self.closing : ""),
      url: head.url.text,
      fields: fields.bytes,
      varied: request.bytes
    )
  }

  /// Reads the last fields of a line; nil where some are missing.
  init?(_ line: inout RecordFields.Reader) {
    guard let status = line.nextInteger(), let length = line.nextText(), let end = line.nextText(),
      let url = line.nextText()
    else { return nil }
    var (fields, varied) = (RecordFields(), RecordFields(capacity: 64))
    while let name = line.next(), let value = line.next() {
      if name.first == Self.requestMark {
        varied.append(raw: name)
        varied.append(raw: value)
      } else {
        fields.append(raw: name)
        fields.append(raw: value)
      }
    }
    self.init(
      status: status,
      length: length + (end == "closing" ? Self.closing : ""),
      url: url,
      fields: fields.bytes,
      varied: varied.bytes
    )
  }

  func append(to line: inout RecordFields) {
    line.append(String(status))
    line.append(length.hasSuffix(Self.closing) ? String(length.dropLast(Self.closing.count)) : length)
    line.append(length.hasSuffix(Self.closing) ? "closing" : "-")
    line.append(url)
    if !fields.isEmpty { line.append(raw: fields) }
    if !varied.isEmpty { line.append(raw: varied) }
  }

  fileprivate static func read(_ bytes: [UInt8], droppingMark: Bool) -> HTTPFields {
    guard !bytes.isEmpty else { return HTTPFields() }
    return bytes.withUnsafeBytes { bytes in
      var (record, fields): (RecordFields.Reader, [HTTPFields.Field]) = (.init(bytes), [])
      while let name = record.nextText(), let value = record.nextText() {
        fields.append(.init(name: droppingMark ? String(name.dropFirst()) : name, value: value))
      }
      return HTTPFields(fields)
    }
  }
}

extension StoredResponse {
  /// Reads the response of an entry; nil where its URL is invalid.
  init?(_ entry: EntryRecord) {
    let record = entry.head
    guard let url = try? ImageURL(record.url) else { return nil }
    let head = ResponseHead(
      status: record.status,
      fields: HeadRecord.read(record.fields, droppingMark: false),
      url: url,
      contentLength: Int(record.length.prefix { $0 != " " }),
      endsByClosing: record.length.hasSuffix(" closing")
    )
    self.init(
      head: head,
      varied: HeadRecord.read(record.varied, droppingMark: true),
      requestedAt: entry.requestedAt,
      respondedAt: entry.respondedAt
    )
  }
}

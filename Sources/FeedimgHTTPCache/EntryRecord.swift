import FeedimgModel
import Glibc

/// The properties of an entry that change only with its body or its response.
struct EntryRecord: Sendable, Hashable {
  var key: String
  var role: ImageVariant.Role
  /// Whether it is exempt from eviction and expiry.
  var isPinned = false
  var mediaType: String
  var body: BodyName
  /// The size of the body, in bytes.
  var size: Int
  /// The checksum of the body.
  var checksum: UInt64
  /// Seconds since 1970, to the millisecond, like all times here.
  var storedAt: Double
  var requestedAt: Double
  var respondedAt: Double
  /// The head of the response, parsed only when it is needed.
  var head: HeadRecord

  /// The row of the entry in the index.
  ///
  /// Two keys with the same identifier replace each other.
  var identifier: Int64 { Int64(bitPattern: body.keyHash) }

  var budget: Budget { isResponse ? .responses : isPinned ? .pinned : Budget(role) }

  /// Whether the bodies have the same bytes and the same ending, as far as the checksum tells.
  func hasEqualBody(to other: EntryRecord) -> Bool {
    size == other.size && checksum == other.checksum && body.ending == other.body.ending
  }

  /// Whether `GET /v1/fetch` stored the entry, which is then no image.
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

  func pinned(_ isPinned: Bool) -> EntryRecord {
    var copy = self
    copy.isPinned = isPinned
    return copy
  }

  /// The same body with a new response.
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

/// The text form of a record, in archives and beside partial downloads: one line with its own checksum.
///
/// Tabs separate the fields; the first is the checksum of the rest. Indexes of versions 1 and 2 had such lines, too.
extension EntryRecord {
  /// The version of this form.
  ///
  /// Lines of other versions are not read.
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

  /// The first letter of the role, in upper case for a pinned image.
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

  /// The fields of a line from the key on; nil if the line is damaged or has another version.
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

  /// Reads a line; nil if it is damaged or has another version.
  init?(line: UnsafeRawBufferPointer) {
    // A line with the right checksum is from feedimg, so that the rest fails only if the form changes.
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

/// Times in the index, limited so that no sum overflows.
enum Milliseconds {
  /// About 285,000 years.
  private static let limit = 9e15

  static func count(_ seconds: Double) -> Int {
    let value = (seconds * 1000).rounded()
    return value.isNaN ? 0 : Int(min(max(value, -limit), limit))
  }

  static func seconds(_ count: Int) -> Double { Double(count) / 1000 }
}

/// Writes fields separated by tabs.
///
/// A backslash escapes tabs, line feeds and backslashes.
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

  /// - Parameter capacity: The expected size, in bytes.
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

  /// Appends fields that are separated and escaped already.
  mutating func append(raw fields: some Sequence<UInt8>) {
    part()
    bytes += fields
  }

  /// The text after a first field with its checksum.
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

  /// Reads the fields of such a text in order.
  struct Reader {
    /// The unread rest; nil after the last field.
    private var remaining: UnsafeRawBufferPointer?

    init(_ bytes: UnsafeRawBufferPointer) { remaining = bytes }

    var rest: UnsafeRawBufferPointer { remaining ?? UnsafeRawBufferPointer(start: nil, count: 0) }

    /// The next field, still escaped; nil after the last one.
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

/// The stored head of a response.
///
/// Names and values alternate, in the form of ``RecordFields``.
struct HeadRecord: Sendable, Hashable {
  var status: Int
  /// The content length, or `-`.
  ///
  /// It ends in ` closing` if the body ended with the connection.
  var length: String
  var url: String
  var fields: [UInt8]
  /// The request fields that `Vary` names.
  ///
  /// Each name follows a `>`, which no name contains.
  var varied: [UInt8]

  private static let requestMark = UInt8(ascii: ">")
  private static let closing = " closing"
}

extension HeadRecord {
  /// Leaves out users and passwords of URLs, and hashes the credentials of the request.
  init(_ head: ResponseHead, varied: HTTPFields) {
    var (fields, request) = (RecordFields(), RecordFields(capacity: 64))
    for field in head.fields.storable.fields {
      fields.append(field.name)
      fields.append(ImageURL.hidingCredentials(in: field.value))
    }
    for field in varied.fields {
      request.append(">" + field.name)
      request.append(Vary.hidden(field))
    }
    self.init(
      status: head.status,
      length: (head.contentLength.map(String.init) ?? "-") + (head.endsByClosing ? Self.closing : ""),
      url: head.url.description,
      fields: fields.bytes,
      varied: request.bytes
    )
  }

  /// Reads the last fields of a line; nil if some are missing.
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
  /// Reads the response of an entry; nil if its URL is invalid.
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

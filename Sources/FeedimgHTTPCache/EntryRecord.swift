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
  /// The record of a new body.
  init(_ metadata: ImageMetadata, size: Int = 0, checksum: UInt64 = 0, storedAt: Double) {
    self.init(
      key: metadata.key,
      role: metadata.role,
      mediaType: metadata.mediaType,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
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
}

/// The text form of a record, in archives and beside partial downloads: one line with its own checksum.
///
/// Tabs separate the fields; the first is the checksum of the rest.
extension EntryRecord {
  /// The version of this form.
  ///
  /// Lines of other versions are not read.
  private static let form = UInt8(ascii: "1")

  var line: [UInt8] {
    var fields = RecordFields(capacity: 512 + key.utf8.count + head.bytes.count)
    fields.append(Self.form)
    fields.append(key)
    fields.append(mark)
    fields.append(mediaType)
    fields.append(body.text)
    fields.append(String(size))
    fields.append(checksum.hexadecimal)
    for time in [storedAt, requestedAt, respondedAt] { fields.append(String(Milliseconds.count(time))) }
    fields.append(raw: head.bytes)
    return fields.sealed
  }

  /// The first letter of the role, in upper case for a pinned image.
  private var mark: String {
    let letter = role == .original ? "o" : "t"
    return isPinned ? letter.uppercased() : letter
  }

  /// Reads a line; nil if it is damaged or has another version.
  init?(line: UnsafeRawBufferPointer) {
    guard line.count > 17, line[16] == RecordFields.tab, let seal = UInt64(hexadecimal: line[..<16]) else {
      return nil
    }
    let content = UnsafeRawBufferPointer(rebasing: line[17...])
    guard Checksum.of(content) == seal else { return nil }
    // A line with the right checksum is from feedimg, so that the rest fails only if the form changes.
    var fields = RecordFields.Reader(content)
    guard fields.next()?.elementsEqual([Self.form]) == true,
      let key = fields.nextText(),
      let mark = fields.nextText(), ["o", "O", "t", "T"].contains(mark),
      let mediaType = fields.nextText(),
      let body = fields.next().flatMap(BodyName.init(utf8:)),
      let size = fields.nextInteger(), size >= 0,
      let checksum = fields.next().flatMap(UInt64.init(hexadecimal:)),
      let storedAt = fields.nextInteger(),
      let requestedAt = fields.nextInteger(),
      let respondedAt = fields.nextInteger()
    else { return nil }
    self.key = key
    role = mark.lowercased() == "o" ? .original : .thumbnail
    isPinned = mark == mark.uppercased()
    self.mediaType = mediaType
    self.body = body
    self.size = size
    self.checksum = checksum
    self.storedAt = Milliseconds.seconds(storedAt)
    self.requestedAt = Milliseconds.seconds(requestedAt)
    self.respondedAt = Milliseconds.seconds(respondedAt)
    head = HeadRecord(bytes: Array(fields.rest))
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
    Checksum.of(bytes).hexadecimal.utf8 + [Self.tab] + bytes
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

/// The stored head of a response and the request fields that its `Vary` names, in the form of ``RecordFields``.
///
/// That is the status, the content length or `-`, `closing` if the body ended with the connection or `-`, and the URL.
/// Then names and values alternate. The names of request fields follow a `>`, which no name contains.
struct HeadRecord: Sendable, Hashable {
  var bytes: [UInt8]

  fileprivate static let requestMark = UInt8(ascii: ">")
  fileprivate static let closing = "closing"
}

extension HeadRecord {
  /// Leaves out users and passwords of URLs, and hashes the credentials of the request.
  init(_ head: ResponseHead, varied: HTTPFields) {
    var record = RecordFields()
    record.append(String(head.status))
    record.append(head.contentLength.map(String.init) ?? "-")
    record.append(head.endsByClosing ? Self.closing : "-")
    record.append(head.url.description)
    for field in head.fields.storable.fields {
      record.append(field.name)
      record.append(ImageURL.hidingCredentials(in: field.value))
    }
    for field in varied.fields {
      record.append(">" + field.name)
      record.append(Vary.hidden(field))
    }
    bytes = record.bytes
  }
}

extension StoredResponse {
  /// Reads the response of an entry; nil if its head is damaged.
  init?(_ entry: EntryRecord) {
    let stored = entry.head.bytes.withUnsafeBytes { bytes -> (head: ResponseHead, varied: HTTPFields)? in
      var record = RecordFields.Reader(bytes)
      guard let status = record.nextInteger(), let length = record.nextText(), let end = record.nextText(),
        let url = record.nextText().flatMap({ try? ImageURL($0) })
      else { return nil }
      var (fields, varied): ([HTTPFields.Field], [HTTPFields.Field]) = ([], [])
      while let name = record.nextText(), let value = record.nextText() {
        if name.utf8.first == HeadRecord.requestMark {
          varied.append(.init(name: String(name.dropFirst()), value: value))
        } else {
          fields.append(.init(name: name, value: value))
        }
      }
      let head = ResponseHead(
        status: status,
        fields: HTTPFields(fields),
        url: url,
        contentLength: Int(length),
        endsByClosing: end == HeadRecord.closing
      )
      return (head, HTTPFields(varied))
    }
    guard let stored else { return nil }
    self.init(
      head: stored.head,
      varied: stored.varied,
      requestedAt: entry.requestedAt,
      respondedAt: entry.respondedAt
    )
  }
}

import FeedimgModel

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
  /// The head of the response as a line, see ``HeadLine``; parsed only when it is needed.
  var head: [UInt8]

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
      requestedAt: metadata.response.requestedAt,
      respondedAt: metadata.response.respondedAt,
      head: HeadLine.of(metadata.response)
    )
  }

  /// The same body with a new response.
  func updated(by response: StoredResponse) -> EntryRecord {
    var copy = self
    copy.requestedAt = response.requestedAt
    copy.respondedAt = response.respondedAt
    copy.head = HeadLine.of(response)
    return copy
  }
}

/// The text form of a record, beside a partial download: one line with its own checksum.
///
/// Tabs separate the fields; the first is the checksum of the rest.
extension EntryRecord {
  /// The version of this form.
  ///
  /// Lines of other versions are not read.
  private static let form = "1"

  var line: [UInt8] {
    let times = [storedAt, requestedAt, respondedAt].map { String(Milliseconds.count($0)) }
    let letter = role == .original ? "o" : "t"
    let fields = [Self.form, key, letter, mediaType, body.text, String(size), checksum.hexadecimal] + times
    let content = FieldLine.bytes(fields) + [FieldLine.tab] + head
    return Checksum.of(content).hexadecimal.utf8 + [FieldLine.tab] + content
  }

  /// Reads a line; nil if it is damaged or has another version.
  init?(line: ArraySlice<UInt8>) {
    let parts = line.split(separator: FieldLine.tab, maxSplits: 1)
    guard parts.count == 2, let seal = UInt64(hexadecimal: parts[0]),
      parts[1].withUnsafeBytes({ Checksum.of($0) }) == seal
    else { return nil }
    // A line with the right checksum is from feedimg, so that the rest fails only if the form changes.
    let fields = parts[1].split(separator: FieldLine.tab, maxSplits: 10, omittingEmptySubsequences: false)
    guard fields.count == 11 else { return nil }
    let texts = fields[..<10].map(FieldLine.text)
    guard texts[0] == Self.form, let body = BodyName(texts[4]), let size = Int(texts[5]), size >= 0,
      let checksum = UInt64(hexadecimal: fields[6]), let storedAt = Int(texts[7]),
      let requestedAt = Int(texts[8]), let respondedAt = Int(texts[9])
    else { return nil }
    self.init(
      key: texts[1],
      role: texts[2] == "o" ? .original : .thumbnail,
      mediaType: texts[3],
      body: body,
      size: size,
      checksum: checksum,
      storedAt: Milliseconds.seconds(storedAt),
      requestedAt: Milliseconds.seconds(requestedAt),
      respondedAt: Milliseconds.seconds(respondedAt),
      head: Array(fields[10])
    )
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

/// Fields in one line, separated by tabs.
///
/// A backslash escapes tabs, line feeds and backslashes.
private enum FieldLine {
  static let tab = UInt8(ascii: "\t")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let backslash = UInt8(ascii: "\\")
  private static let escapes: [(raw: UInt8, letter: UInt8)] = [
    (tab, UInt8(ascii: "t")), (lineFeed, UInt8(ascii: "n")), (backslash, backslash),
  ]

  static func bytes(_ fields: [String]) -> [UInt8] {
    Array(fields.map(escaped).joined(separator: "\t").utf8)
  }

  static func fields(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: tab, omittingEmptySubsequences: false).map(text)
  }

  private static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == tab || $0 == lineFeed || $0 == backslash }) else { return text }
    let bytes = text.utf8.flatMap { byte in
      escapes.first { $0.raw == byte }.map { [backslash, $0.letter] } ?? [byte]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text of one field.
  static func text(_ field: ArraySlice<UInt8>) -> String {
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

/// The stored head of a response and the request fields that its `Vary` names, as a line of fields.
///
/// That is the status, the content length or `-`, `closing` if the body ended with the connection or `-`, and the URL.
/// Then names and values alternate. The names of request fields follow a `>`, which no name contains.
enum HeadLine {
  fileprivate static let closing = "closing"

  /// Leaves out users and passwords of URLs, and hashes the credentials of the request.
  static func of(_ response: StoredResponse) -> [UInt8] {
    let head = response.head
    var record = [
      String(head.status), head.contentLength.map(String.init) ?? "-",
      head.endsByClosing ? closing : "-", head.url.description,
    ]
    for field in head.fields.storable.fields {
      record += [field.name, ImageURL.hidingCredentials(in: field.value)]
    }
    for field in response.varied.fields { record += [">" + field.name, Vary.hidden(field)] }
    return FieldLine.bytes(record)
  }
}

extension StoredResponse {
  /// Reads the response of an entry; nil if its head is damaged.
  init?(_ entry: EntryRecord) {
    let record = FieldLine.fields(entry.head)
    guard record.count >= 4, let status = Int(record[0]), let url = try? ImageURL(record[3]) else {
      return nil
    }
    var (fields, varied) = (HTTPFields(), HTTPFields())
    for position in stride(from: 4, to: record.count - 1, by: 2) {
      let (name, value) = (record[position], record[position + 1])
      if name.utf8.first == UInt8(ascii: ">") {
        varied.fields.append(.init(name: String(name.dropFirst()), value: value))
      } else {
        fields.fields.append(.init(name: name, value: value))
      }
    }
    let head = ResponseHead(
      status: status,
      fields: fields,
      url: url,
      contentLength: Int(record[1]),
      endsByClosing: record[2] == HeadLine.closing
    )
    self.init(head: head, varied: varied, requestedAt: entry.requestedAt, respondedAt: entry.respondedAt)
  }
}

import FeedimgModel

/// The form in which answers stand in records: status, length, end, URL, then names and values of fields.
///
/// The names of the request's fields follow a `>`, which no name may contain.
extension StoredAnswer {
  private static let requestMark: Character = ">"

  static func record(_ head: ResponseHead, varied: HTTPFields) -> [UInt8] {
    var record = RecordFields()
    record.append(String(head.status))
    record.append(head.contentLength.map(String.init) ?? "-")
    record.append(head.endsByClosing ? "closing" : "-")
    record.append(head.url.text)
    for field in head.fields.storable.fields {
      record.append(field.name)
      record.append(field.value)
    }
    for field in varied.fields {
      record.append(String(requestMark) + field.name)
      record.append(field.value)
    }
    return record.bytes
  }

  /// Reads the answer of an entry; nil where its record is of another form.
  init?(_ entry: EntryRecord) {
    let read = entry.answer.withUnsafeBytes { bytes -> (ResponseHead, HTTPFields)? in
      var record = RecordFields.Reader(bytes)
      guard let status = record.nextInteger(),
        let length = record.nextText(),
        let end = record.nextText(),
        let url = record.nextText().flatMap({ try? ImageURL($0) })
      else { return nil }
      var (fields, varied): ([HTTPFields.Field], [HTTPFields.Field]) = ([], [])
      while let name = record.nextText(), let value = record.nextText() {
        if name.first == Self.requestMark {
          varied.append(HTTPFields.Field(name: String(name.dropFirst()), value: value))
        } else {
          fields.append(HTTPFields.Field(name: name, value: value))
        }
      }
      let head = ResponseHead(
        status: status,
        fields: HTTPFields(fields),
        url: url,
        contentLength: Int(length),
        endsByClosing: end == "closing"
      )
      return (head, HTTPFields(varied))
    }
    guard let (head, varied) = read else { return nil }
    self.init(head: head, varied: varied, requestedAt: entry.requestedAt, respondedAt: entry.respondedAt)
  }
}

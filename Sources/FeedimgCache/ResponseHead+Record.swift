import FeedimgModel

extension ResponseHead {
  /// The head as fields of a record: status, length, end, URL, then names and values.
  var recorded: [UInt8] {
    var record = RecordFields()
    record.append(String(status))
    record.append(contentLength.map(String.init) ?? "-")
    record.append(endsByClosing ? "closing" : "-")
    record.append(url.text)
    for field in fields.fields {
      record.append(field.name)
      record.append(field.value)
    }
    return record.bytes
  }

  /// Reads what ``recorded`` gave; nil for anything else.
  init?(recorded bytes: [UInt8]) {
    let head = bytes.withUnsafeBytes { bytes -> ResponseHead? in
      var record = RecordFields.Reader(bytes)
      guard let status = record.nextInteger(),
        let length = record.nextText(),
        let end = record.nextText(),
        let url = record.nextText().flatMap({ try? ImageURL($0) })
      else { return nil }
      var fields: [HTTPFields.Field] = []
      while let name = record.nextText(), let value = record.nextText() {
        fields.append(HTTPFields.Field(name: name, value: value))
      }
      return ResponseHead(
        status: status,
        fields: HTTPFields(fields),
        url: url,
        contentLength: Int(length),
        endsByClosing: end == "closing"
      )
    }
    guard let head else { return nil }
    self = head
  }
}

/// The file of a beginning: its bytes, then the line of its record, then the length of that line.
///
/// What describes the bytes stands behind them, so that the file of a transfer that breaks off becomes this one by
/// being appended to and renamed: it is there whole or not at all, whatever is killed when.
enum PartialFile {
  /// Of the length, in hexadecimal digits.
  private static let lengthDigits = 16

  static func trailer(_ record: EntryRecord) -> [UInt8] {
    let line = record.line
    return line + Array(UInt64(line.count).hexadecimal.utf8)
  }

  /// Reads such a file; nil for one that is damaged, or of another key.
  static func read(_ content: [UInt8], key: String) -> (record: EntryRecord, bytes: [UInt8])? {
    guard let length = UInt64(hexadecimal: content.suffix(lengthDigits)),
      let size = Int(exactly: length).map({ content.count - lengthDigits - $0 }), size > 0,
      size < content.count
    else { return nil }
    let record = content.withUnsafeBytes { content in
      EntryRecord(line: UnsafeRawBufferPointer(rebasing: content[size..<(content.count - lengthDigits)]))
    }
    guard let record, record.key == key, record.size == size else { return nil }
    let bytes = Array(content[..<size])
    return Checksum.of(bytes) == record.checksum ? (record, bytes) : nil
  }
}

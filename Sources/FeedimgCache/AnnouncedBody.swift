import Glibc

/// Tells of a body that is being written which image it begins, so that what is there outlives a kill.
///
/// A note beside the body rather than in it, as bodies hold nothing but what came. It names the start of the system: what
/// a file holds after a kill is what was written, after a power cut it need not be.
struct AnnouncedBody {
  /// That of the whole image.
  ///
  /// Its checksum is not known yet; its size is how much of the file is of the image, zero for all that is there.
  var record: EntryRecord
  /// The name of the file in `incoming`.
  var name: String
  /// Of the start of the system.
  var boot: String

  static let ending = ".head"

  /// What tells this start of the system from others (`random(4)`); nil where it cannot be told.
  static func currentBoot() -> String? {
    let path = "/proc/sys/kernel/random/boot_id"
    guard let file = try? OpenFile(path, to: "read", O_RDONLY), let bytes = try? file.read(count: 36),
      bytes.count == 36
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  var content: [UInt8] {
    let line = [UInt8(ascii: "\n")]
    let content = record.line + line + Array(name.utf8) + line + Array(boot.utf8) + line
    return content + Array(Checksum.of(content).hexadecimal.utf8)
  }

  init(record: EntryRecord, name: String, boot: String) {
    (self.record, self.name, self.boot) = (record, name, boot)
  }

  /// Reads a note; nil for one that is damaged.
  init?(_ content: [UInt8]) {
    guard content.count > 16, let seal = UInt64(hexadecimal: content.suffix(16)),
      Checksum.of(Array(content.dropLast(16))) == seal
    else { return nil }
    let parts = content.dropLast(16).split(separator: UInt8(ascii: "\n")).map(Array.init)
    guard parts.count == 3, let record = parts[0].withUnsafeBytes({ EntryRecord(line: $0) }) else {
      return nil
    }
    self.init(
      record: record,
      name: String(decoding: parts[1], as: UTF8.self),
      boot: String(decoding: parts[2], as: UTF8.self)
    )
  }
}

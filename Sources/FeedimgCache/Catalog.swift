import Glibc

/// The records of the bodies in one shard, one after the other, so that a lost index can be made again.
///
/// Commits append; nothing is taken out when a body goes, as a record without its body means nothing. Now and then a
/// new catalog is written with the records that still mean something. No reader or writer ever waits for another.
struct Catalog {
  let path: String

  private static let lineEnd = UInt8(ascii: "\n")

  /// Appends the line of a record; whole, also when others append at the same time.
  func append(line: [UInt8]) throws(FileFault) {
    // A line end at both sides, so that a line torn by a full disk does not spoil the next.
    try append([Self.lineEnd] + line + [Self.lineEnd])
  }

  private func append(_ bytes: [UInt8]) throws(FileFault) {
    // A catalog that was replaced before our write ended may not hold it: then once more, into the new one.
    for _ in 0..<8 {
      let file = try OpenFile(path, to: "write", O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, mode: 0o600)
      try file.write(bytes)
      if !file.isUnlinked { return }
    }
  }

  /// The records that can be read, by body: the last of those that were appended.
  func records() throws(FileFault) -> [BodyName: EntryRecord] {
    let file: OpenFile
    do throws(FileFault) {
      file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW)
    } catch {
      guard error.reason == ENOENT else { throw error }
      return [:]
    }
    return Self.records(in: try Self.content(of: file))
  }

  private static func content(of file: borrowing OpenFile) throws(FileFault) -> [UInt8] {
    try file.read(count: Int(try file.status().st_size))
  }

  private static func records(in content: [UInt8]) -> [BodyName: EntryRecord] {
    var records: [BodyName: EntryRecord] = [:]
    content.withUnsafeBytes { bytes in
      for line in bytes.split(separator: lineEnd) {
        guard let record = EntryRecord(line: UnsafeRawBufferPointer(rebasing: line)) else { continue }
        records[record.body] = record
      }
    }
    return records
  }

  /// Writes a new catalog of the bodies alone that are there, if there are half as many as lines or fewer.
  ///
  /// A new one that was never finished goes in any case.
  ///
  /// - Parameters:
  ///   - count: How many bodies there should be.
  ///   - isPresent: Whether a body is there.
  /// - Throws: ``FileFault``; the catalog is as before then.
  func compact(to count: Int, keeping isPresent: (BodyName) -> Bool) throws(FileFault) {
    let old = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW)
    // One at a time; whoever comes second has nothing to do.
    guard try old.tryLock(), !old.isUnlinked else { return }
    let temporary = path + ".new"
    // Under the lock, one that is there was left by a process that died.
    unlink(temporary)
    let content = try Self.content(of: old)
    guard content.split(separator: Self.lineEnd).count > 2 * count + 16 else { return }
    var kept: [UInt8] = []
    for record in Self.records(in: content).values where isPresent(record.body) {
      kept += record.line + [Self.lineEnd]
    }
    do throws(FileFault) {
      let new = try OpenFile(temporary, to: "write", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      try new.write(kept)
      guard rename(temporary, path) == 0 else { throw FileFault("replace", path) }
    } catch {
      unlink(temporary)
      throw error
    }
    // What was appended to the old one before the rename; later writers see that it has gone.
    let late = try Self.content(of: old).dropFirst(content.count)
    if !late.isEmpty { try append(Array(late)) }
  }
}

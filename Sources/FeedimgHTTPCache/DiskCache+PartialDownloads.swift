package import FeedimgModel
import FeedimgSystem
import Glibc

/// Partial downloads, at most one for a key, with a small limit of their own.
///
/// Any process may read, replace and remove them at any time. A reader gets a complete file or none.
extension DiskCache {
  /// Partial downloads older than this are removed; in seconds.
  static let partialDownloadLifetime = 86_400.0

  package var hasPartialDownloads: Bool { folder.exists(folder.partial) }

  package func partialDownload(of key: String) -> PartialDownload? {
    guard hasPartialDownloads else { return nil }
    recoverPartialDownloads()
    return storedPartialDownload(of: key)
  }

  /// The partial download of a key, without those that killed writers left.
  func storedPartialDownload(of key: String) -> PartialDownload? {
    let path = folder.partialPath(key)
    do throws(FileError) {
      let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG, status.st_size < 1 << 31 else { return nil }
      let content = try file.read(count: Int(status.st_size))
      guard let (record, bytes) = PartialFile.read(content), record.key == key,
        let response = StoredResponse(record), abs(clock() - record.storedAt) < Self.partialDownloadLifetime
      else {
        unlink(path)
        return nil
      }
      return PartialDownload(response: response, bytes: bytes)
    } catch {
      return nil
    }
  }

  package func removePartialDownload(of key: String) { unlink(folder.partialPath(key)) }

  /// Removes the partial downloads of a URL, also those of accounts, whose keys only the files know.
  func removePartialDownloads(ofURL url: String) {
    // The name of a damaged file still tells its key.
    removePartialDownload(of: url)
    for file in folder.partialDownloads() {
      let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
      let content = try? OpenFile(file.path, to: "read", flags).read(count: min(file.size, 1 << 31))
      let key = content.flatMap(PartialFile.read)?.record.key ?? ""
      if "\(key) ".hasPrefix("\(url) ") { unlink(file.path) }
    }
  }

  /// Keeps an interrupted body if the disk has space.
  func keepPartial(_ incoming: IncomingBody, _ metadata: ImageMetadata) throws(FileError) {
    guard (folder.freeSpace()?.deficit ?? 0) <= 0 else { return }
    try keepPartial(incoming, EntryRecord(metadata, storedAt: time))
    sweepPartialDownloads()
  }

  /// Keeps an interrupted body as the partial download of its key.
  ///
  /// Sets the size and checksum of the record.
  func keepPartial(_ incoming: IncomingBody, _ record: EntryRecord) throws(FileError) {
    var record = record
    (record.size, record.checksum) = (incoming.size, incoming.checksum)
    try FilePath.makeFolder(folder.partial)
    try incoming.place(at: folder.partialPath(record.key), endingWith: PartialFile.trailer(record))
  }

  /// Removes expired partial downloads, then the oldest until the rest fit.
  func sweepPartialDownloads() {
    // The clock of the file system wrote the times.
    let now = Double(Glibc.time(nil))
    var rest = limits.partialDownloads.bytes
    for file in folder.partialDownloads() {
      rest -= file.size
      if rest < 0 || abs(now - file.writtenAt) > Self.partialDownloadLifetime { unlink(file.path) }
    }
  }

  func clearPartialDownloads() {
    for name in (try? CacheFolder.names(in: folder.partial)) ?? []
    where UInt64(hexadecimal: Array(name.utf8.prefix(16))) != nil {
      unlink("\(folder.partial)/\(name)")
    }
    rmdir(folder.partial)
  }
}

/// The file of a partial download, without its content.
struct PartialDownloadFile {
  var path: String
  /// In bytes, with the record behind the bytes of the image.
  var size: Int
  /// Seconds since 1970.
  var writtenAt: Double
}

extension [PartialDownloadFile] {
  /// The size of all files.
  var bytes: Int { reduce(0) { Swift.min($0 + Swift.min($1.size, 1 << 60), 1 << 60) } }
}

extension CacheFolder {
  /// The partial downloads, newest first.
  func partialDownloads() -> [PartialDownloadFile] {
    var partialDownloads: [PartialDownloadFile] = []
    for name in (try? Self.names(in: partial)) ?? [] {
      let path = "\(partial)/\(name)"
      var status = stat()
      guard UInt64(hexadecimal: Array(name.utf8)) != nil, lstat(path, &status) == 0 else { continue }
      let writtenAt = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
      partialDownloads.append(
        PartialDownloadFile(path: path, size: Int(status.st_size), writtenAt: writtenAt)
      )
    }
    return partialDownloads.sorted { $0.writtenAt > $1.writtenAt }
  }

  func partialPath(_ key: String) -> String { "\(partial)/\(Checksum.of(key).hexadecimal)" }
}

/// The file of a partial download: its bytes, then the line of its record, then the length of that line.
///
/// The record comes last, so that the cache only appends it to the file of the interrupted transfer and renames the
/// file. After a kill, the partial download is complete or missing.
enum PartialFile {
  /// The digits of the length, in hexadecimal.
  private static let lengthDigits = 16

  static func trailer(_ record: EntryRecord) -> [UInt8] {
    let line = record.line
    return line + Array(UInt64(line.count).hexadecimal.utf8)
  }

  /// Reads a file; nil if it is damaged.
  static func read(_ content: [UInt8]) -> (record: EntryRecord, bytes: [UInt8])? {
    guard let length = UInt64(hexadecimal: content.suffix(lengthDigits)),
      let size = Int(exactly: length).map({ content.count - lengthDigits - $0 }), size > 0,
      size < content.count
    else { return nil }
    guard let record = EntryRecord(line: content[size...].dropLast(lengthDigits)), record.size == size else {
      return nil
    }
    let bytes = Array(content[..<size])
    return Checksum.of(bytes) == record.checksum ? (record, bytes) : nil
  }
}

/// Partial downloads of writers that were killed.
///
/// A recovery record in `partial` names the image of a body that is being written. It is beside the body, because a
/// body has only the bytes of its image. It ends with the start of the system: after a power cut, the body may lack its
/// bytes.
extension DiskCache {
  private static let recoveryEnding = ".head"

  /// Writes the recovery record of a body.
  ///
  /// - Returns: The path of the recovery record; nil if it cannot be written. A kill then loses the bytes.
  func writeRecoveryRecord(_ incoming: IncomingBody, _ metadata: ImageMetadata) -> String? {
    let record = EntryRecord(metadata, storedAt: time)
    // Several processes may write bodies of one key.
    let path = "\(folder.partialPath(metadata.key)).\(incoming.name)\(Self.recoveryEnding)"
    do throws(FileError) {
      try FilePath.makeFolder(folder.partial)
      let boot = try Self.boot()
      try IncomingBody(in: folder).place(at: path, endingWith: record.line + [UInt8(ascii: "\n")] + boot)
      return path
    } catch {
      return nil
    }
  }

  /// Turns what killed writers left into partial downloads, before their bodies are swept.
  func recoverPartialDownloads() { for name in recoveryRecords() { recover(name) } }

  /// Whether the next sweep makes a partial download of a body, because a recovery record names it.
  ///
  /// The writer may have been killed since the recovery records were read last.
  func hasRecoveryRecord(_ name: String) -> Bool {
    recoveryRecords().contains { $0.hasSuffix(".\(name)\(Self.recoveryEnding)") }
  }

  /// The names of the recovery records: the hash of the key, the name of the body, and the ending.
  private func recoveryRecords() -> [String] {
    let names = (try? CacheFolder.names(in: folder.partial)) ?? []
    return names.filter { $0.hasSuffix(Self.recoveryEnding) }
  }

  /// The identifier of this start of the system (`random(4)`).
  private static func boot() throws(FileError) -> [UInt8] {
    try OpenFile("/proc/sys/kernel/random/boot_id", to: "read", O_RDONLY).read(count: 36)
  }

  /// Turns the body of a recovery record into a partial download, unless its writer lives.
  private func recover(_ name: String) {
    let (path, parts) = ("\(folder.partial)/\(name)", name.split(separator: "."))
    guard parts.count == 3 else { return }
    do throws(FileError) {
      let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
      let body = try OpenFile("\(folder.incoming)/\(parts[1])", to: "read", flags)
      // A living writer keeps its body. After this, no other process writes or reads the recovery record.
      guard isAbandoned(body) else { return }
      let file = try OpenFile(path, to: "read", flags)
      let content = try file.read(count: min(Int(try file.status().st_size), 1 << 20))
      let lines = content.split(separator: UInt8(ascii: "\n"))
      if lines.count == 2, lines[1].elementsEqual(try Self.boot()), let record = EntryRecord(line: lines[0]) {
        try recover(body, record)
        unlink(body.path)
      }
      unlink(path)
    } catch {
      // The body is gone. On a full disk, partial downloads are not worth their space.
      if error.reason == ENOENT || error.isDiskFull { unlink(path) }
    }
  }

  private func recover(_ body: borrowing OpenFile, _ record: EntryRecord) throws(FileError) {
    let limit = limits.partialDownloads.bytes
    let bytes = try body.read(count: min(Int(try body.status().st_size), limit + 1))
    let known = storedPartialDownload(of: record.key)?.bytes.count ?? 0
    guard bytes.count > known, bytes.count <= limit else { return }
    // A copy: after a kill, a half-extended file would look like a body.
    let copy = try IncomingBody(in: folder)
    try copy.write(bytes)
    try keepPartial(copy, record)
  }
}

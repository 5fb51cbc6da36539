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
    adoptPartialDownload(of: key)
    return storedPartialDownload(of: key)
  }

  /// The partial download of a key, without those that killed writers left.
  func storedPartialDownload(of key: String) -> PartialDownload? {
    let path = folder.partialPath(key)
    do throws(FileFault) {
      let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG, status.st_size < 1 << 31 else { return nil }
      let content = try file.read(count: Int(status.st_size))
      guard let (record, bytes) = PartialFile.read(content, key: key), let response = StoredResponse(record),
        abs(clock() - record.storedAt) < Self.partialDownloadLifetime
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

  /// Keeps an interrupted body if the disk has space.
  func keepPartial(_ incoming: consuming IncomingBody, _ metadata: ImageMetadata) throws(FileFault) {
    guard (folder.freeSpace()?.deficit ?? 0) <= 0 else { return }
    let record = EntryRecord(
      metadata,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
      size: 0,
      checksum: 0,
      storedAt: Milliseconds.seconds(Milliseconds.count(clock()))
    )
    try keepPartial(&incoming, record)
    sweepPartialDownloads()
  }

  /// Keeps an interrupted body as the partial download of its key.
  ///
  /// Sets the size and checksum of the record.
  func keepPartial(_ incoming: inout IncomingBody, _ record: EntryRecord) throws(FileFault) {
    var record = record
    (record.size, record.checksum) = (incoming.size, incoming.checksum)
    try CacheFolder.makeFolder(folder.partial)
    try incoming.place(at: folder.partialPath(record.key), endingWith: PartialFile.trailer(record))
  }

  /// Removes expired partial downloads, then the oldest until the rest fit.
  func sweepPartialDownloads() {
    // The clock of the file system wrote the times.
    let now = Double(time(nil))
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

  /// Reads a file; nil if it is damaged or has another key.
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

/// Partial downloads of writers that were killed.
extension DiskCache {
  /// Writes a note that names the image of a body that is being written.
  ///
  /// Without it, a kill loses the bytes.
  ///
  /// - Parameters:
  ///   - incoming: The body.
  ///   - metadata: The description of the whole image.
  ///   - size: The bytes of the file that belong to the image; nil for all of them.
  /// - Returns: The path of the note; nil if it cannot be written.
  func announce(_ incoming: borrowing IncomingBody, _ metadata: ImageMetadata, size: Int? = nil) -> String? {
    guard let boot = AnnouncedBody.currentBoot() else { return nil }
    let record = EntryRecord(
      metadata,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
      size: size ?? 0,
      checksum: 0,
      storedAt: Milliseconds.seconds(Milliseconds.count(clock()))
    )
    let path = folder.announcementPath(metadata.key, incoming.name)
    do throws(FileFault) {
      try CacheFolder.makeFolder(folder.partial)
      var note = try IncomingBody(in: folder)
      try note.write(AnnouncedBody(record: record, name: incoming.name, boot: boot).content)
      try note.place(at: path, endingWith: [])
      return path
    } catch {
      return nil
    }
  }

  /// Removes a note, because its body was committed or discarded.
  func withdrawAnnouncement(at path: String) { unlink(path) }

  /// Turns what killed writers left of an image into its partial download.
  func adoptPartialDownload(of key: String) {
    let hash = Checksum.of(key).hexadecimal
    for path in announcements() where path.dropFirst(folder.partial.count + 1).hasPrefix(hash) {
      adopt(announcementAt: path)
    }
  }

  /// Turns what killed writers left of any image into partial downloads, before their bodies are swept.
  func adoptPartialDownloads() {
    for path in announcements() { adopt(announcementAt: path) }
  }

  /// Whether the next sweep makes a partial download of a body.
  ///
  /// The writer may have been killed since the notes were read last.
  ///
  /// - Parameter name: The name of a body that the caller has locked, so that no other process announces or adopts it.
  /// - Returns: Whether there is a note for it.
  func isAnnounced(_ name: String) -> Bool {
    announcements().contains { path in
      guard let file = try? OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
        return false
      }
      return (try? Self.announcement(in: file))??.name == name
    }
  }

  private func announcements() -> [String] {
    let names = (try? CacheFolder.names(in: folder.partial)) ?? []
    return names.filter { $0.hasSuffix(AnnouncedBody.ending) }.map { "\(folder.partial)/\($0)" }
  }

  /// Reads a note; nil if it is damaged or from before the last start of the system.
  private static func announcement(in file: borrowing OpenFile) throws(FileFault) -> AnnouncedBody? {
    let content = try file.read(count: min(Int(try file.status().st_size), 1 << 20))
    guard let note = AnnouncedBody(content), note.boot == AnnouncedBody.currentBoot(),
      UInt64(hexadecimal: Array(note.name.utf8)) != nil
    else { return nil }
    return note
  }

  private func adopt(announcementAt path: String) {
    do throws(FileFault) {
      let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      guard let note = try Self.announcement(in: file) else {
        unlink(path)
        return
      }
      if try adopt(note, at: path) { unlink(path) }
    } catch {
      // The note is missing or cannot be read now. On a full disk, partial downloads are not worth their space.
      if error.isDiskFull { unlink(path) }
    }
  }

  /// Whether the note is no longer needed.
  private func adopt(_ note: AnnouncedBody, at announcement: String) throws(FileFault) -> Bool {
    let body: OpenFile
    do throws(FileFault) {
      let path = "\(folder.incoming)/\(note.name)"
      body = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch {
      return error.reason == ENOENT
    }
    // A living writer keeps its body.
    guard isAbandoned(body) else { return false }
    // The writer may have replaced or removed the note before it was killed.
    let file = try OpenFile(announcement, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    guard let last = try Self.announcement(in: file), last.name == note.name else { return false }
    let note = last
    let size = note.record.size > 0 ? note.record.size : Int(try body.status().st_size)
    let bytes = try body.read(count: min(size, limits.partialDownloads.bytes + 1))
    let known = storedPartialDownload(of: note.record.key)?.bytes.count ?? 0
    if bytes.count > known, bytes.count <= limits.partialDownloads.bytes {
      // A copy: after a kill, a half-extended file would look like a body.
      var copy = try IncomingBody(in: folder)
      try copy.write(bytes)
      try keepPartial(&copy, note.record)
    }
    unlink(body.path)
    return true
  }
}

extension CacheFolder {
  /// One path for each body, as several processes may write bodies of one key.
  fileprivate func announcementPath(_ key: String, _ name: String) -> String {
    "\(partialPath(key)).\(name)\(AnnouncedBody.ending)"
  }
}

/// A note that names the image of a body that is being written, so that the bytes survive a kill.
///
/// It is beside the body, because a body has only the bytes of its image. It names the start of the system: after a
/// power cut, the file may not have what was written.
struct AnnouncedBody {
  /// The record of the whole image.
  ///
  /// Its checksum is unset. Its size is the number of bytes in the file that belong to the image, or zero for all.
  var record: EntryRecord
  /// The name of the file in `incoming`.
  var name: String
  /// The identifier of the start of the system.
  var boot: String

  static let ending = ".head"

  /// The identifier of this start of the system (`random(4)`); nil if it cannot be read.
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

  /// Reads a note; nil if it is damaged.
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

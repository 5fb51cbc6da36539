package import FeedimgModel
import FeedimgSystem
import Glibc

/// Beginnings of images whose transfers broke off, one for a key, within a small budget of their own.
///
/// Each process may read, replace and remove them at any time: whoever reads has all of one or none.
extension DiskCache {
  /// Beginnings that nobody went on with for so long are removed; in seconds.
  static let beginningLifetime = 86_400.0

  package func partialDownload(of key: String) -> PartialDownload? {
    // One look in place of two, as mostly there are none.
    guard folder.exists(folder.partial) else { return nil }
    adoptPartialDownload(of: key)
    return storedPartialDownload(of: key)
  }

  /// The beginning that was set aside, without looking at what killed writers left.
  func storedPartialDownload(of key: String) -> PartialDownload? {
    let path = folder.partialPath(key)
    do throws(FileFault) {
      let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG, status.st_size < 1 << 31 else { return nil }
      let content = try file.read(count: Int(status.st_size))
      guard let (record, bytes) = PartialFile.read(content, key: key), let response = StoredResponse(record),
        abs(clock() - record.storedAt) < Self.beginningLifetime
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

  /// Keeps a body that broke off; gives it up where there is no room.
  func setAside(_ incoming: consuming IncomingBody, _ metadata: ImageMetadata) throws(FileFault) {
    guard (folder.room()?.deficit ?? 0) <= 0 else { return }
    let record = EntryRecord(
      metadata,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
      size: 0,
      checksum: 0,
      storedAt: Milliseconds.seconds(Milliseconds.count(clock()))
    )
    try setAside(&incoming, record)
    sweepBeginnings()
  }

  /// Makes a body that broke off the beginning of its key; size and checksum in the record do not count.
  func setAside(_ incoming: inout IncomingBody, _ record: EntryRecord) throws(FileFault) {
    var record = record
    (record.size, record.checksum) = (incoming.size, incoming.checksum)
    try CacheFolder.makeFolder(folder.partial)
    try incoming.place(at: folder.partialPath(record.key), endingWith: PartialFile.trailer(record))
  }

  /// Removes the beginnings that are too old, then those written longest ago until the rest fit.
  func sweepBeginnings() {
    // By the clock of the file system, as that wrote the times.
    let now = Double(time(nil))
    var rest = limits.beginnings.bytes
    for beginning in folder.beginnings() {
      rest -= beginning.size
      if rest < 0 || abs(now - beginning.writtenAt) > Self.beginningLifetime { unlink(beginning.path) }
    }
  }

  func clearBeginnings() {
    for name in (try? CacheFolder.names(in: folder.partial)) ?? []
    where UInt64(hexadecimal: Array(name.utf8.prefix(16))) != nil {
      unlink("\(folder.partial)/\(name)")
    }
    rmdir(folder.partial)
  }
}

/// The file of a beginning, as far as its folder tells of it.
struct BeginningFile {
  var path: String
  /// In bytes, with the record behind those of the image.
  var size: Int
  /// In seconds since 1970.
  var writtenAt: Double
}

extension [BeginningFile] {
  /// What all take.
  var bytes: Int { reduce(0) { Swift.min($0 + Swift.min($1.size, 1 << 60), 1 << 60) } }
}

extension CacheFolder {
  /// The beginnings that were set aside, those written last first.
  func beginnings() -> [BeginningFile] {
    var beginnings: [BeginningFile] = []
    for name in (try? Self.names(in: partial)) ?? [] {
      let path = "\(partial)/\(name)"
      var status = stat()
      guard UInt64(hexadecimal: Array(name.utf8)) != nil, lstat(path, &status) == 0 else { continue }
      let writtenAt = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
      beginnings.append(BeginningFile(path: path, size: Int(status.st_size), writtenAt: writtenAt))
    }
    return beginnings.sorted { $0.writtenAt > $1.writtenAt }
  }

  func partialPath(_ key: String) -> String { "\(partial)/\(Checksum.of(key).hexadecimal)" }
}

/// The file of a partial download: its bytes, then the line of its record, then the length of that line.
///
/// The record comes last. So the cache appends it to the file of an interrupted transfer, and renames the file. After
/// a kill, the partial download is there whole or not at all.
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

/// Makes beginnings of what writers left that were killed.
extension DiskCache {
  /// Notes which image a body begins that is being written; without the note, a kill loses what is there.
  ///
  /// - Parameters:
  ///   - incoming: The body.
  ///   - metadata: Of the whole image.
  ///   - size: How much of the file is of the image, if something else will follow that; nil for all of it.
  /// - Returns: Where the note is; nil where there can be none.
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

  /// Takes a note back, as its body has been ended one way or the other.
  func withdrawAnnouncement(at path: String) { unlink(path) }

  /// Makes a beginning of what a killed writer left of an image, if there is such a thing.
  func adoptPartialDownload(of key: String) {
    let hash = Checksum.of(key).hexadecimal
    for path in announcements() where path.dropFirst(folder.partial.count + 1).hasPrefix(hash) {
      adopt(announcementAt: path)
    }
  }

  /// Makes beginnings of what killed writers left of any image, before their bodies are swept.
  func adoptBeginnings() {
    for path in announcements() { adopt(announcementAt: path) }
  }

  /// Whether a body begins an image that the next sweep makes a beginning of.
  ///
  /// Its writer may have been killed, or another who made a beginning of it, after the last time that was looked for.
  ///
  /// - Parameter name: Of a body that nobody else can lock now, so that nobody else announces or adopts it.
  /// - Returns: Whether a note tells of it.
  func isAnnounced(_ name: String) -> Bool {
    announcements().contains { path in
      guard let file = try? OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
        return false
      }
      return (try? Self.announcement(in: file))??.name == name
    }
  }

  /// The paths of all notes.
  private func announcements() -> [String] {
    let names = (try? CacheFolder.names(in: folder.partial)) ?? []
    return names.filter { $0.hasSuffix(AnnouncedBody.ending) }.map { "\(folder.partial)/\($0)" }
  }

  /// Nil for a note that is damaged, or from before the start of the system.
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
      // There is none, or it cannot be read now. On a full disk, nothing is kept that was never shown.
      if error.isDiskFull { unlink(path) }
    }
  }

  /// Whether the note has served.
  private func adopt(_ note: AnnouncedBody, at announcement: String) throws(FileFault) -> Bool {
    let body: OpenFile
    do throws(FileFault) {
      let path = "\(folder.incoming)/\(note.name)"
      body = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch {
      return error.reason == ENOENT
    }
    // While its writer lives it is its own.
    guard isAbandoned(body) else { return false }
    // It may have written another note before it died, or taken this one back.
    let file = try OpenFile(announcement, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    guard let last = try Self.announcement(in: file), last.name == note.name else { return false }
    let note = last
    let size = note.record.size > 0 ? note.record.size : Int(try body.status().st_size)
    let bytes = try body.read(count: min(size, limits.beginnings.bytes + 1))
    let known = storedPartialDownload(of: note.record.key)?.bytes.count ?? 0
    if bytes.count > known, bytes.count <= limits.beginnings.bytes {
      // A copy, as a kill while the file itself is added to would leave what nobody can tell from a body.
      var copy = try IncomingBody(in: folder)
      try copy.write(bytes)
      try setAside(&copy, note.record)
    }
    unlink(body.path)
    return true
  }
}

extension CacheFolder {
  /// One for each body, as several processes may write bodies of a key.
  fileprivate func announcementPath(_ key: String, _ name: String) -> String {
    "\(partialPath(key)).\(name)\(AnnouncedBody.ending)"
  }
}

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

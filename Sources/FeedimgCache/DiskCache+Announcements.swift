import FeedimgModel
import Glibc

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
  func adoptBeginning(of key: String) {
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
      if error.isForWantOfRoom { unlink(path) }
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
    let known = storedBeginning(of: note.record.key)?.bytes.count ?? 0
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

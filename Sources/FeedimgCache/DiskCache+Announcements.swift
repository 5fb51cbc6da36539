import FeedimgModel
import Glibc

/// Makes beginnings of what writers left that were killed.
extension DiskCache {
  /// Notes which image a body begins that is being written; without the note, a kill loses what is there.
  func announce(_ incoming: borrowing IncomingBody, _ metadata: ImageMetadata) {
    guard let boot = AnnouncedBody.currentBoot() else { return }
    let record = EntryRecord(
      metadata,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
      size: 0,
      checksum: 0,
      storedAt: Milliseconds.seconds(Milliseconds.count(clock()))
    )
    let note = AnnouncedBody(record: record, name: incoming.name, boot: boot)
    let path = folder.announcementPath(metadata.key)
    let temporary = "\(path).\(incoming.name)"
    do throws(FileFault) {
      try CacheFolder.makeFolder(folder.partial)
      let file = try OpenFile(temporary, to: "write", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      try file.write(note.content)
      guard rename(temporary, path) == 0 else { throw FileFault("write", path) }
    } catch {
      unlink(temporary)
    }
  }

  /// Takes the note back, as the body has been ended one way or the other.
  func withdrawAnnouncement(of key: String) { unlink(folder.announcementPath(key)) }

  /// Makes a beginning of what a killed writer left of an image, if there is such a thing.
  func adoptBeginning(of key: String) { adopt(announcementAt: folder.announcementPath(key)) }

  /// Makes beginnings of what killed writers left of any image, before their bodies are swept.
  func adoptBeginnings() {
    for name in (try? CacheFolder.names(in: folder.partial)) ?? [] where name.hasSuffix(AnnouncedBody.ending)
    {
      adopt(announcementAt: "\(folder.partial)/\(name)")
    }
  }

  private func adopt(announcementAt path: String) {
    do throws(FileFault) {
      let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let content = try file.read(count: min(Int(try file.status().st_size), 1 << 20))
      guard let note = AnnouncedBody(content), note.boot == AnnouncedBody.currentBoot(),
        UInt64(hexadecimal: Array(note.name.utf8)) != nil
      else {
        unlink(path)
        return
      }
      if try adopt(note) { unlink(path) }
    } catch {
      // There is none, or it cannot be read now.
    }
  }

  /// Whether the note has served.
  private func adopt(_ note: AnnouncedBody) throws(FileFault) -> Bool {
    let body: OpenFile
    do throws(FileFault) {
      let path = "\(folder.incoming)/\(note.name)"
      body = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch {
      return error.reason == ENOENT
    }
    // While its writer lives it is its own.
    guard isAbandoned(body) else { return false }
    let bytes = try body.read(count: min(Int(try body.status().st_size), limits.beginnings.bytes + 1))
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
  fileprivate func announcementPath(_ key: String) -> String { partialPath(key) + AnnouncedBody.ending }
}

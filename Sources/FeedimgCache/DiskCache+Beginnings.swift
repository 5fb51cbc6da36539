package import FeedimgModel
import Glibc

/// Beginnings of images whose transfers broke off, one for a key, within a small budget of their own.
///
/// Each process may read, replace and remove them at any time: whoever reads has all of one or none.
extension DiskCache {
  /// Beginnings that nobody went on with for so long are removed; in seconds.
  static let beginningLifetime = 86_400.0

  package func beginning(of key: String) -> ImageBeginning? {
    // One look in place of two, as mostly there are none.
    guard folder.exists(folder.partial) else { return nil }
    adoptBeginning(of: key)
    return storedBeginning(of: key)
  }

  /// The beginning that was set aside, without looking at what killed writers left.
  func storedBeginning(of key: String) -> ImageBeginning? {
    let path = folder.partialPath(key)
    do throws(FileFault) {
      let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG, status.st_size < 1 << 31 else { return nil }
      let content = try file.read(count: Int(status.st_size))
      guard let (record, bytes) = PartialFile.read(content, key: key), let answer = StoredAnswer(record),
        abs(clock() - record.storedAt) < Self.beginningLifetime
      else {
        unlink(path)
        return nil
      }
      return ImageBeginning(answer: answer, bytes: bytes)
    } catch {
      return nil
    }
  }

  package func removeBeginning(of key: String) { unlink(folder.partialPath(key)) }

  /// Keeps a body that broke off; gives it up where there is no room.
  func setAside(_ incoming: consuming IncomingBody, _ metadata: ImageMetadata) throws(CacheError) {
    let limit = limits.beginnings.bytes
    guard incoming.size > 0, incoming.size <= limit, (folder.room()?.deficit ?? 0) <= 0 else { return }
    let record = EntryRecord(
      metadata,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
      size: 0,
      checksum: 0,
      storedAt: Milliseconds.seconds(Milliseconds.count(clock()))
    )
    do throws(FileFault) {
      try setAside(&incoming, record)
    } catch {
      throw CacheError(.body, error.description)
    }
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

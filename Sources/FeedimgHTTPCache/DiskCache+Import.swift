package import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Glibc

/// The result of an import.
package struct CacheImport: Sendable, Hashable {
  package var entries = 0
  package var size = ByteCount(0)
  /// The number of images that are stored already, as new or newer.
  package var present = 0
  /// The number of images that did not fit.
  package var leftOut = 0
}

extension DiskCache {
  /// Stores the images of an archive that ``export(to:progress:)`` wrote, as if they had just been used.
  ///
  /// Nothing is evicted for them: images that do not fit are left out, the least recently used first. Each image is
  /// verified before it is stored. A file is read twice: if it is truncated, damaged or foreign, nothing changes. Of a
  /// pipe, the images before the fault are stored.
  ///
  /// - Parameters:
  ///   - path: A file, or nil for standard input.
  ///   - progress: Gets the number of images read, and how many there are if known; returns whether to continue.
  /// - Returns: The result, until `progress` stopped it.
  /// - Throws: ``CacheError`` with `archive` for an invalid archive, or with another code if the cache cannot be
  ///   written.
  package func importEntries(
    from path: String?,
    progress: (_ done: Int, _ count: Int?) -> Bool = { _, _ in true }
  ) throws(CacheError) -> CacheImport {
    var result = CacheImport()
    var reader = ArchiveReader(try Self.open(path))
    var count: Int?
    if reader.isSeekable {
      let place = reader.place()
      var checked = 0
      try Self.forEachEntry(of: &reader) { record, reader throws(CacheError) in
        checked += 1
        var checksum = Checksum()
        try reader.readContent { checksum?.update($0) }
        try Self.compare(checksum?.value, record, reader)
        return progress(0, nil)
      }
      try reader.rewind(to: place)
      count = checked
    }
    try trim()
    try Self.forEachEntry(of: &reader) { record, reader throws(CacheError) in
      try take(record, from: &reader, &result)
      return progress(result.entries + result.present + result.leftOut, count)
    }
    return result
  }

  private static func open(_ path: String?) throws(CacheError) -> OpenFile {
    do throws(FileFault) {
      guard let path else { return OpenFile(descriptor: dup(STDIN_FILENO), path: "standard input") }
      return try OpenFile(path, to: "read", O_RDONLY | O_NOCTTY)
    } catch {
      throw CacheError(.archive, error.description)
    }
  }

  /// Passes each entry to the body, which reads the content and returns whether to continue.
  private static func forEachEntry(
    of reader: inout ArchiveReader,
    _ body: (EntryRecord, inout ArchiveReader) throws(CacheError) -> Bool
  ) throws(CacheError) {
    var (isKnown, pending): (Bool, EntryRecord?) = (false, nil)
    while let header = try reader.next() {
      switch header.kind {
      case .folder, .extended, .globallyExtended: continue
      case nil: throw reader.fault("is no export of feedimg: `\(header.name)` is no plain file")
      case .file: break
      }
      switch CacheArchive.content(name: header.name) {
      case nil: throw reader.fault("is no export of feedimg: it holds `\(header.name)`")
      case .form:
        let text = String(decoding: try reader.content(atMost: CacheArchive.maximumRecord), as: UTF8.self)
        guard text == CacheArchive.formText else {
          throw reader.fault(
            "was exported by a later version: it begins with `\(text.prefix(40).filter { $0 != "\n" })`"
          )
        }
        isKnown = true
      case .record(let name):
        guard isKnown else { throw reader.fault("is no export of feedimg: it does not say so") }
        pending = EntryRecord(line: try reader.content(atMost: CacheArchive.maximumRecord).dropLast())
        guard pending?.body == name else { throw reader.fault("is damaged: `\(header.name)`") }
      case .body(let name):
        guard let record = pending, record.body == name, record.size == header.size else {
          throw reader.fault("is damaged: `\(header.name)` does not follow its record")
        }
        pending = nil
        guard try body(record, &reader) else { return }
      }
    }
    guard isKnown else { throw reader.fault("is no export of feedimg: it is empty") }
    guard pending == nil else { throw reader.fault("is damaged: its last record has no image") }
  }

  private static func compare(
    _ checksum: UInt64?,
    _ record: EntryRecord,
    _ reader: borrowing ArchiveReader
  ) throws(CacheError) {
    guard checksum == record.checksum else {
      throw reader.fault(
        "is damaged: the image of `\(ImageURL.withoutCredentials(record.key))` is not what was exported"
      )
    }
  }

  /// Stores one entry, unless the cache has it or it does not fit.
  private func take(
    _ record: EntryRecord,
    from reader: inout ArchiveReader,
    _ result: inout CacheImport
  ) throws(CacheError) {
    if let earlier = entry(of: record.key)?.record, folder.size(of: earlier.body) == earlier.size,
      earlier.storedAt >= record.storedAt
        || earlier.checksum == record.checksum && earlier.size == record.size
    {
      result.present += 1
      return
    }
    guard !record.isResponse, let record = try fitting(record) else {
      result.leftOut += 1
      return
    }
    let body = PendingBody(removals: removals)
    try reader.readContent { bytes throws(CacheError) in
      do throws(FileFault) { try body.write(bytes, in: folder) } catch {
        throw CacheError(.body, error.description)
      }
    }
    try Self.compare(body.checksum, record, reader)
    _ = try store(body, record)
    result.entries += 1
    result.size = ByteCount(result.size.bytes + record.size)
  }

  /// The record with a new body name, pinned if the pin fits; nil if the entry does not fit.
  private func fitting(_ record: EntryRecord) throws(CacheError) -> EntryRecord? {
    let limits = limits
    var ours = record
    ours.body = BodyName(key: record.key, mediaType: record.mediaType)
    // A time in the future would make the entry newer than any response to come.
    ours.storedAt = min(record.storedAt, time)
    for candidate in record.isPinned ? [ours, ours.pinned(false)] : [ours] {
      let stored =
        try pool.read { index throws(SQLiteError) in try index.total(of: candidate.budget).bytes } ?? 0
      if stored + candidate.size <= limits[candidate.budget].bytes { return candidate }
    }
    return nil
  }
}

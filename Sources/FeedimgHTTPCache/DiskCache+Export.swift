package import FeedimgModel
import FeedimgSystem
import Glibc

/// The result of an export.
package struct CacheExport: Sendable, Hashable {
  package var entries = 0
  package var size = ByteCount(0)
  /// The keys whose bodies are missing or altered; they are left out.
  package var damaged: [String] = []
  /// The number of images that were requested with credentials; they are left out.
  package var personal = 0
}

extension DiskCache {
  /// Writes all images to a tar archive, the most recently used first.
  ///
  /// A failure leaves an earlier file as it was.
  ///
  /// Each body is verified. Cookies are left out, and so are images that were requested with credentials.
  ///
  /// - Parameters:
  ///   - path: A file, or nil for standard output.
  ///   - progress: Gets the number of images written and about how many there are; returns whether to continue.
  /// - Returns: The result.
  /// - Throws: ``CacheError`` if the index cannot be read, the archive cannot be written, or `progress` stopped it.
  package func export(
    to path: String?,
    progress: (_ done: Int, _ count: Int) -> Bool = { _, _ in true }
  ) throws(CacheError) -> CacheExport {
    var result = CacheExport()
    let total = try info().entries
    var file =
      if let path {
        try ArchiveFile(path)
      } else {
        ArchiveFile(descriptor: dup(STDOUT_FILENO), path: "standard output")
      }
    try write(into: file, total, &result, progress)
    try file.finish()
    return result
  }

  private func write(
    into file: borrowing ArchiveFile,
    _ total: Int,
    _ result: inout CacheExport,
    _ progress: (Int, Int) -> Bool
  ) throws(CacheError) {
    let form = CacheArchive.member(CacheArchive.form, Array(CacheArchive.formText.utf8), modifiedAt: clock())
    try file.write(form ?? [])
    try forEachEntry(by: .used) { entry throws(CacheError) in
      guard progress(result.entries, max(total, result.entries)) else {
        throw CacheError(.folder, FileFault("go on writing", folder.path, reason: ECANCELED).description)
      }
      if !isExpired(entry) { try write(entry.record, into: file, &result) }
      return true
    }
    try file.write(CacheArchive.end)
  }

  private func write(
    _ record: EntryRecord,
    into file: borrowing ArchiveFile,
    _ result: inout CacheExport
  ) throws(CacheError) {
    guard let record = record.impersonal else {
      result.personal += 1
      return
    }
    guard case .whole(let bytes) = StoredBody.read(record, path: folder.path(of: record.body)) else {
      result.damaged.append(VariantKey.url(record.key))
      return
    }
    let name = record.body.text
    let line = record.line + [UInt8(ascii: "\n")]
    guard let head = CacheArchive.member(name + CacheArchive.recordEnding, line, modifiedAt: record.storedAt),
      let body = CacheArchive.member(name, bytes, modifiedAt: record.storedAt)
    else { return }
    try file.write(head)
    try file.write(body)
    result.entries += 1
    result.size = ByteCount(result.size.bytes + record.size)
  }
}

extension EntryRecord {
  /// The record without cookies; nil if the request had credentials.
  fileprivate var impersonal: EntryRecord? {
    guard !ImageURL.hasCredentials(key: key), !AccountKey.isAccount(key) else { return nil }
    guard var response = StoredResponse(self) else { return self }
    guard response.varied["Authorization"] == nil, response.varied["Cookie"] == nil else { return nil }
    response.head.fields.fields.removeAll { ["set-cookie", "set-cookie2"].contains($0.name.lowercased()) }
    return updated(by: response)
  }
}

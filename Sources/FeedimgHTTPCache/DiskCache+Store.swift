import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Synchronization

struct PendingImage: Sendable {
  let body: PendingBody
  let record: EntryRecord
}

/// An image that waits for the next transaction.
///
/// A transaction costs several times as much as a row, so that images share one.
struct WaitingImage: Sendable {
  let image: PendingImage
  let continuation: CheckedContinuation<Result<EntryRecord, CacheError>, Never>
}

extension DiskCache {
  /// The record of a written body.
  ///
  /// - Throws: ``CacheError`` if the body alone exceeds its budget.
  func record(of body: PendingBody, _ metadata: ImageMetadata) throws(CacheError) -> EntryRecord {
    let isResponse = ResponseKey.isResponse(metadata.key)
    let limit = limits[isResponse ? .responses : Budget(metadata.role)]
    guard body.size <= limit.bytes else {
      let size = ByteCount(body.size).rounded
      let all = isResponse ? "responses" : "\(metadata.role)s"
      throw CacheError("it takes \(size), more than the \(limit.rounded) for all \(all)")
    }
    var metadata = metadata
    metadata.key = key(for: metadata)
    return EntryRecord(metadata, size: body.size, checksum: body.checksum, storedAt: time)
  }

  /// Commits a written body in one transaction with others that come before the scheduled closure runs.
  ///
  /// Evicts what no longer fits.
  func store(
    _ body: PendingBody,
    _ record: EntryRecord,
    _ later: (@escaping @Sendable () -> Void) -> Void
  ) async throws(CacheError) -> StoredImage {
    let image = PendingImage(body: body, record: record)
    let result = await withCheckedContinuation { continuation in
      let isFirst = waiting.withLock { waiting in
        waiting.append(WaitingImage(image: image, continuation: continuation))
        return waiting.count == 1
      }
      if isFirst { later { self.enterAll() } }
    }
    return finish(try result.get())
  }

  private func enterAll() {
    let waiting = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for (one, result) in zip(waiting, enter(waiting.map(\.image))) {
      one.continuation.resume(returning: result)
    }
  }

  private func finish(_ record: EntryRecord) -> StoredImage {
    countCommit()
    return image(CacheIndex.Entry(record: record, usedAt: now))
  }

  /// Places bodies and inserts their rows.
  ///
  /// Evicts once for an image if the disk is full.
  ///
  /// - Returns: The result for each. The bodies of failures are removed.
  private func enter(_ images: [PendingImage]) -> [Result<EntryRecord, CacheError>] {
    var results: [Result<EntryRecord, CacheError>] = []
    // After a fault of a full disk, images are entered one at a time. Each may evict once.
    var (isAlone, evictedFor): (Bool, Int?) = (images.count == 1, nil)
    while results.count < images.count {
      let rest = isAlone ? images[results.count...results.count] : images[results.count...]
      let fault: CacheError?
      do throws(CacheError) {
        do throws(FileError) { try beginWriting() } catch { throw CacheError(error) }
        fault = try attempt(Array(rest), &results)
      } catch {
        fault = error
      }
      guard let fault else { continue }
      let number = results.count
      if fault.isDiskFull, !isAlone {
        // The entries that the first attempt evicted may have made enough room.
        isAlone = true
      } else if fault.isDiskFull, evictedFor != number {
        evict(atLeast: max(images[number].record.size, Self.minimumRoom))
        evictedFor = number
      } else {
        // On a full disk, other images may still fit. Any other failure would repeat itself.
        let failed = fault.isDiskFull ? images[number...number] : images[number...]
        folder.remove(failed.map(\.record.body))
        results += failed.map { _ in .failure(fault) }
      }
    }
    return results
  }

  /// Places bodies and inserts their rows in one transaction, up to the first body that does not fit on the disk.
  ///
  /// - Returns: The error for the body that does not fit.
  private func attempt(
    _ images: [PendingImage],
    _ results: inout [Result<EntryRecord, CacheError>]
  ) throws(CacheError) -> CacheError? {
    let (now, expiry, limits, deficit) = (now, expiry, limits, folder.freeSpace()?.deficit ?? 0)
    let removesExpired = isExpiryDue(at: now)
    let outcome = try pool.write { index throws(SQLiteError) in
      var results: [Result<EntryRecord, CacheError>] = []
      var fault: CacheError?
      var removal = try index.evict(deficit)
      for image in images {
        let result = try enter(image, in: index, within: limits, now: now, removing: &removal)
        if case .failure(let error) = result, error.isDiskFull {
          fault = error
          break
        }
        results.append(result)
      }
      if removesExpired {
        for budget in Budget.evictable {
          let count = CacheIndex.maximumCount
          removal.add(try index.removeOldest(of: budget, unusedSince: expiry, atMost: count))
        }
        removal.add(try index.removeReplaced(before: now - CacheLimits.replacedSeconds, now: now))
      }
      return (results: results, fault: fault, removal: removal)
    }
    if removesExpired { noteExpiry(at: now) }
    folder.remove(outcome.removal.bodies)
    for (image, result) in zip(images, outcome.results) where (try? result.get())?.body != image.record.body {
      folder.remove([image.record.body])
    }
    results += outcome.results
    return outcome.fault
  }

  /// Places one body and inserts its row, after evicting what must make room for it.
  private func enter(
    _ image: PendingImage,
    in index: CacheIndex,
    within limits: CacheLimits,
    now: Int,
    removing removal: inout CacheIndex.Removal
  ) throws(SQLiteError) -> Result<EntryRecord, CacheError> {
    var record = image.record
    guard removals <= image.body.removals else {
      return .failure(CacheError("images were removed while it was loading"))
    }
    let displaced = try index.entry(with: record.identifier)?.record
    let isPinned = record.isPinned || displaced.map { $0.isPinned && $0.key == record.key } ?? false
    let isAwaited = try index.isPinAwaited(for: record.key)
    if isPinned || isAwaited {
      let replaced = displaced.map { $0.isPinned ? $0.size : 0 } ?? 0
      let others = max(0, try index.total(of: .pinned).bytes - replaced)
      record.isPinned = record.size <= limits.pinned.bytes - others
      guard record.isPinned || !isPinned else {
        let limit = limits.pinned.rounded
        return .failure(
          CacheError("with it, pinned images would take more than \(limit); the earlier one stays")
        )
      }
    }
    if let same = displaced, same.key == record.key, same.hasEqualBody(to: record),
      case .whole = StoredBody.read(same, path: folder.path(of: same.body))
    {
      // Other programs may know the path of the same bytes.
      record.body = same.body
    } else {
      do throws(FileError) {
        try image.body.place(as: record.body, in: folder)
      } catch {
        return .failure(CacheError(error))
      }
    }
    if let displaced {
      try index.delete(displaced)
      if displaced.key != record.key {
        removal.add(CacheIndex.Removal(displaced))
      } else if displaced.body != record.body {
        removal.add(try index.keepReplaced(displaced, within: limits, now: now))
      }
    }
    if !record.isPinned {
      removal.add(try index.makeRoom(for: record.size, of: record.budget, limit: limits[record.budget]))
    }
    try index.insert(record, usedAt: now)
    if isAwaited { try index.removeAwaitedPin(for: record.key) }
    return .success(record)
  }
}

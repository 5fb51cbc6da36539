import FeedimgModel
import FeedimgSQLite
import FeedimgSystem
import Synchronization

struct PendingImage: Sendable {
  let body: PendingBody
  let record: EntryRecord
}

/// The images that wait for the next transaction.
///
/// A transaction costs several times as much as a row, so that images share one.
final class WaitingImages: Sendable {
  struct One: Sendable {
    let image: PendingImage
    let continuation: CheckedContinuation<Result<EntryRecord, CacheError>, Never>
  }

  /// Guards the images that wait.
  ///
  /// They are written, and continuations resumed, outside.
  private let waiting = Mutex<[One]>([])

  /// - Returns: Whether it is the first one.
  func add(_ one: One) -> Bool {
    waiting.withLock { waiting in
      waiting.append(one)
      return waiting.count == 1
    }
  }

  func takeAll() -> [One] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
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
      throw CacheError(
        .body,
        "`\(ImageURL.withoutCredentials(metadata.key))` is not kept: it takes \(size), more than the "
          + "\(limit.rounded) for all \(isResponse ? "responses" : "\(metadata.role)s")"
      )
    }
    var metadata = metadata
    metadata.key = key(for: metadata)
    return EntryRecord(
      metadata,
      body: BodyName(key: metadata.key, mediaType: metadata.mediaType),
      size: body.size,
      checksum: body.checksum,
      storedAt: Milliseconds.seconds(Milliseconds.count(clock()))
    )
  }

  /// Commits a written body, and evicts what no longer fits.
  func store(_ body: PendingBody, _ record: EntryRecord) throws(CacheError) -> StoredImage {
    try finish(enter([PendingImage(body: body, record: record)])[0].get())
  }

  /// Commits a written body in one transaction with others that come before it begins.
  ///
  /// - Parameters:
  ///   - body: The bytes.
  ///   - record: Their record.
  ///   - later: Schedules a closure.
  /// - Returns: The committed image.
  /// - Throws: ``CacheError``; the body is then removed.
  func store(
    _ body: PendingBody,
    _ record: EntryRecord,
    _ later: (@escaping @Sendable () -> Void) -> Void
  ) async throws(CacheError) -> StoredImage {
    let image = PendingImage(body: body, record: record)
    let result = await withCheckedContinuation { continuation in
      let isFirst = waiting.add(WaitingImages.One(image: image, continuation: continuation))
      if isFirst { later { self.enterAll() } }
    }
    return finish(try result.get())
  }

  private func enterAll() {
    let waiting = waiting.takeAll()
    for (one, result) in zip(waiting, enter(waiting.map(\.image))) {
      one.continuation.resume(returning: result)
    }
  }

  private func finish(_ record: EntryRecord) -> StoredImage {
    expireAndTrim()
    return record.storedImage(path: folder.path(of: record.body), usedAt: Double(now))
  }

  /// Places bodies and inserts their rows, in one transaction if possible.
  ///
  /// - Returns: The result for each. The bodies of failures are removed.
  private func enter(_ images: [PendingImage]) -> [Result<EntryRecord, CacheError>] {
    var steps: [Step] = []
    do throws(CacheError) {
      try beginWritingOrRefuse()
      if images.count > 1 { steps = try attempt(images, evicting: folder.freeSpace()?.deficit ?? 0) }
    } catch {
      // On a full disk, single images may still fit. Any other failure would repeat itself.
      guard error.isDiskFull, images.count > 1 else {
        folder.remove(images.map(\.record.body))
        return images.map { _ in .failure(error) }
      }
    }
    return images.enumerated().map { number, image -> Result<EntryRecord, CacheError> in
      if number < steps.count, case .done(let record) = steps[number] { return .success(record) }
      return Result { () throws(CacheError) in try enterAlone(image) }
    }
  }

  /// The result of an attempt to place a body and insert its row.
  enum Step {
    /// The record is pinned if the entry that it replaced was pinned.
    case done(EntryRecord)
    /// More must be evicted first.
    case unfinished
    /// It replaces a pinned image, and pinned images would exceed their limit.
    case pinsFull
    case unplaced(FileFault)
    /// The cache was cleared after the writing began.
    case cleared
  }

  /// Places one body and inserts its row, in several transactions if needed.
  ///
  /// Evicts once if the disk is full.
  private func enterAlone(_ image: PendingImage) throws(CacheError) -> EntryRecord {
    // Read once, because removed rows free space only when their bodies are removed.
    var deficit = folder.freeSpace()?.deficit ?? 0
    var mayGiveWay = true
    while true {
      do throws(CacheError) {
        switch try attempt([image], evicting: deficit)[0] {
        case .done(let record): return record
        case .unfinished: deficit = 0
        case .pinsFull:
          throw CacheError(
            .body,
            "`\(ImageURL.withoutCredentials(image.record.key))` is not kept: with it, pinned images would take more than "
              + "\(limits.pinned.rounded); the earlier one stays"
          )
        case .cleared:
          throw CacheError(
            .body,
            "`\(ImageURL.withoutCredentials(image.record.key))` is not kept: "
              + "the cache was cleared while it was loading"
          )
        case .unplaced(let fault):
          throw CacheError(.body, fault.description, isDiskFull: fault.isDiskFull)
        }
      } catch {
        guard error.isDiskFull, mayGiveWay else {
          folder.remove([image.record.body])
          throw error
        }
        evict(atLeast: max(image.record.size, Self.minimumRoom))
        mayGiveWay = false
      }
    }
  }

  private func attempt(_ images: [PendingImage], evicting deficit: Int) throws(CacheError) -> [Step] {
    let (now, expiry, limits, folder) = (now, expiry, limits, folder)
    let outcome = try pool.write { index throws(SQLiteError) in
      var steps: [Step] = []
      // Several bodies of one image must be inserted in their order.
      var left: Set<Int64> = []
      var removal = CacheIndex.Removal()
      for image in images {
        guard !left.contains(image.record.identifier) else {
          steps.append(.unfinished)
          continue
        }
        var (step, record) = (Step.unfinished, image.record)
        let displaced = try index.entry(with: record.identifier)?.record
        if removalCount.includesClear(since: image.body.removals) {
          step = .cleared
        } else if let same = displaced, same.key == record.key, same.hasEqualBody(to: record),
          case .whole = StoredBody.read(same, path: folder.path(of: same.body))
        {
          // Other programs may know the path of the same bytes.
          record.body = same.body
        } else {
          do throws(FileFault) {
            try image.body.place(as: image.record.body, in: folder)
          } catch {
            step = .unplaced(error)
          }
        }
        if case .unfinished = step {
          let entered = try index.enter(
            record,
            displacing: displaced,
            evicting: steps.isEmpty ? deficit : 0,
            within: limits,
            now: now
          )
          removal.add(entered.removal)
          step = entered.step
        }
        if case .done = step {} else { left.insert(image.record.identifier) }
        steps.append(step)
      }
      removal.add(try index.removeUnused(since: expiry))
      removal.add(try index.removeReplaced(before: now - limits.replacedSeconds, now: now))
      return (steps: steps, removal: removal)
    }
    folder.remove(outcome.removal.bodies)
    for (image, step) in zip(images, outcome.steps) {
      // An earlier attempt may have placed a body that is not needed.
      if case .done(let record) = step, record.body != image.record.body {
        folder.remove([image.record.body])
      }
    }
    return outcome.steps
  }
}

extension CacheIndex {
  /// Evicts what must make room for a record, and inserts its row if that suffices.
  ///
  /// - Parameters:
  ///   - record: The record to insert.
  ///   - displaced: The record with the same identifier; nil if there is none.
  ///   - deficit: The bytes that the disk lacks.
  ///   - limits: The limits.
  ///   - now: The time of use, in seconds since 1970.
  /// - Returns: The result and the evicted rows.
  /// - Throws: ``SQLiteError``; the caller then rolls back.
  func enter(
    _ record: EntryRecord,
    displacing displaced: EntryRecord?,
    evicting deficit: Int,
    within limits: CacheLimits,
    now: Int
  ) throws(SQLiteError) -> (step: DiskCache.Step, removal: Removal) {
    let isAwaited = try isPinAwaited(for: record.key)
    let succeedsPinned = displaced.map { $0.isPinned && $0.key == record.key } ?? false
    var isPinned = record.isPinned || succeedsPinned || isAwaited
    if isPinned {
      let others = max(
        0,
        try total(of: .pinned).bytes - (displaced?.isPinned == true ? displaced?.size ?? 0 : 0)
      )
      let isFitting = record.size <= limits.pinned.bytes - min(others, limits.pinned.bytes)
      guard isFitting || !(record.isPinned || succeedsPinned) else { return (.pinsFull, Removal()) }
      isPinned = isFitting
    }
    let record = record.pinned(isPinned)
    if let displaced { try delete(displaced) }
    var removal = deficit > 0 ? try evict(deficit) : Removal()
    // The deficit of the disk is evicted as far as one step goes, the excess of a budget completely.
    removal.isUnfinished = false
    if let displaced, displaced.body != record.body {
      let isReplaced = displaced.key == record.key
      removal.add(isReplaced ? try keepReplaced(displaced, within: limits, now: now) : Removal([displaced]))
    }
    if !isPinned {
      removal.add(try makeRoom(for: record.size, of: record.budget, limit: limits[record.budget]))
    }
    guard !removal.isUnfinished else { return (.unfinished, removal) }
    try insert(record, usedAt: now)
    if isAwaited { try removeAwaitedPin(for: record.key) }
    return (.done(record), removal)
  }
}

import FeedimgModel
import Synchronization

/// The bodies that have their names and wait for their rows.
///
/// To commit a transaction costs several times what a row does; so those that come at the same time share one.
final class WaitingRows: Sendable {
  struct One: Sendable {
    let row: DiskCache.Row
    let continuation: CheckedContinuation<Result<EntryRecord, CacheError>, Never>
  }

  /// Guards who waits; rows are written and continuations resumed outside.
  private let waiting = Mutex<[One]>([])

  /// - Returns: Whether nobody else waits.
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
  /// The same as ``store(_:_:)``, in one transaction with all others that come before that begins.
  ///
  /// - Parameters:
  ///   - incoming: The body.
  ///   - metadata: Of the image.
  ///   - later: Has something done in a moment.
  /// - Returns: The image, whose row is there.
  /// - Throws: ``CacheError``; the body has gone then.
  func store(
    _ incoming: consuming IncomingBody,
    _ metadata: ImageMetadata,
    _ later: (@escaping @Sendable () -> Void) -> Void
  ) async throws(CacheError) -> StoredImage {
    let log = log()
    defer { withExtendedLifetime(log) {} }
    let record = try record(of: incoming, metadata)
    let row = try place(&incoming, as: record, log)
    let result = await withCheckedContinuation { continuation in
      let isFirst = waitingRows.add(WaitingRows.One(row: row, continuation: continuation))
      if isFirst { later { self.enterAll() } }
    }
    // Locked up to here, so that nobody takes it for what a dead process left.
    _ = consume incoming
    return finish(try result.get())
  }

  /// Writes the rows of all who wait.
  private func enterAll() {
    let waiting = waitingRows.takeAll()
    let log = log()
    defer { withExtendedLifetime(log) {} }
    var entered: [EntryRecord?] = []
    do throws(CacheError) {
      if waiting.count > 1 { entered = try enter(waiting.map(\.row), log) }
    } catch {
      // What others give way for may do one by one; nothing else would be different, and take as long each time.
      guard error.isForWantOfRoom else { return refuse(waiting, error) }
    }
    for (number, one) in waiting.enumerated() {
      one.continuation.resume(
        returning: Result { () throws(CacheError) in
          if number < entered.count, let record = entered[number] { return record }
          return try enterOrRemove(one.row, log)
        }
      )
    }
  }

  private func refuse(_ waiting: [WaitingRows.One], _ error: CacheError) {
    folder.remove(waiting.map(\.row.record.body))
    for one in waiting { one.continuation.resume(returning: .failure(error)) }
  }

  /// Writes rows in one transaction, as far as that is simple.
  ///
  /// - Returns: Nil for those that have to be written by themselves, as more must give way or something goes wrong.
  /// - Throws: ``CacheError``; none is written then.
  private func enter(_ rows: [Row], _ log: IntentLog?) throws(CacheError) -> [EntryRecord?] {
    let (now, expiry, limits) = (now, expiry, limits)
    let deficit = folder.room()?.deficit ?? 0
    let outcome = try pool.write { index throws(SQLiteError) in
      var records: [EntryRecord?] = []
      // Of one image, the later one must not be written before the earlier.
      var left: Set<Int64> = []
      var removal = CacheIndex.Removal()
      for row in rows {
        guard !left.contains(row.record.identifier) else {
          records.append(nil)
          continue
        }
        let step = try index.enter(row, givingBack: records.isEmpty ? deficit : 0, within: limits, now: now)
        switch step {
        case .done(let record, let more):
          records.append(record)
          removal.add(more)
          // An index that was made anew meanwhile had it already, and one before it displaced it.
          removal.bodies.removeAll { $0 == record.body }
          continue
        case .unfinished(let more): removal.add(more)
        case .pinsFull: break
        }
        records.append(nil)
        left.insert(row.record.identifier)
      }
      removal.add(try index.removeUnused(since: expiry))
      log?.note(removal.bodies, .going)
      return (records: records, removal: removal)
    }
    folder.remove(outcome.removal.bodies)
    return outcome.records
  }
}

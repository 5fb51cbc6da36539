import FeedimgModel
import Glibc

/// What is to be tidied up after a commit (pure).
///
/// Whatever dead writers have left is found a little at a time, so that no start has to look through everything. The
/// random number in the name of the new body decides, so that processes share the work without counting together.
struct Tidying: Sendable, Hashable {
  /// After one commit in so many, the files of dead writers are looked for; whoever begins to commit does so as well.
  static let sweepInterval: UInt64 = 64
  /// After one commit in so many, a shard is looked through; seldom, as that takes the longer the more is stored, and
  /// finds only what no log told of.
  static let visitInterval: UInt64 = 256

  var sweepsIncoming: Bool
  var visits: Shard?

  init(after body: BodyName) {
    sweepsIncoming = body.serial % Self.sweepInterval == 0
    let number = UInt8(truncatingIfNeeded: body.serial / Self.visitInterval)
    visits = body.serial % Self.visitInterval == 0 ? Shard(number: number) : nil
  }
}

extension DiskCache {
  /// Does what is due; failures are left for the next time.
  func tidy(_ tidying: Tidying) {
    if tidying.sweepsIncoming { sweepIncoming() }
    if let shard = tidying.visits {
      _ = try? visit(shard)
      correctUses()
    }
    adoptOneShard()
  }

  /// Removes the bodies whose writers have died, and settles what their logs tell of.
  func sweepIncoming() {
    adoptBeginnings()
    sweepBeginnings()
    for name in (try? CacheFolder.names(in: folder.incoming)) ?? [] {
      let path = "\(folder.incoming)/\(name)"
      let isLog = name.hasSuffix(IntentLog.ending)
      let number = isLog ? name.dropLast(IntentLog.ending.count) : name[...]
      guard UInt64(hexadecimal: Array(number.utf8)) != nil,
        let file = try? OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK), isAbandoned(file)
      else { continue }
      if isLog {
        guard let intents = try? IntentLog.read(file), settle(intents) else { continue }
      } else if isAnnounced(name) {
        continue
      }
      // Its name is never given again, so that it is still this file which is unlinked.
      unlink(path)
    }
  }

  /// Does what a dead process was about to do; whether all of it could be done.
  private func settle(_ intents: [BodyName: IntentLog.Intent]) -> Bool {
    var isDone = true
    let present = intents.filter { folder.size(of: $0.key) != nil }
    // Nothing can be told of a shard before its catalog was read, if the index was lost.
    if !present.isEmpty { _ = try? read(of: present.keys.map(\.shard)) { _ in true } }
    for (body, intent) in present {
      let records = intent == .coming ? try? Catalog(path: folder.catalog(of: body.shard)).records() : nil
      if settle(body, records?[body]) == nil { isDone = false }
    }
    return isDone
  }

  /// Whether no living process is writing or entering the file.
  func isAbandoned(_ file: borrowing OpenFile) -> Bool {
    do throws(FileFault) {
      return try file.tryLock()
    } catch {
      // Without locks on this file system, only age tells. No transfer takes longer than a day.
      guard let status = try? file.status() else { return false }
      return now - status.st_mtim.tv_sec > 86_400
    }
  }

  /// Brings rows, bodies and catalog of one shard into accord; how many bodies got their rows back.
  func visit(_ shard: Shard) throws(CacheError) -> Int {
    let names: [String]
    do throws(FileFault) {
      names = try CacheFolder.names(in: folder.folder(of: shard))
    } catch {
      throw CacheError(.folder, error.description)
    }
    let found = try read(of: [shard]) { index throws(SQLiteError) in
      try index.hasRead(shard) ? index.entries(in: shard) : nil
    }
    // Without its rows, every body would seem to be an orphan.
    guard let entries = found ?? nil else { return 0 }
    let bodies = Set(entries.map(\.record.body))
    let orphans = names.compactMap(BodyName.init(_:)).filter { $0.shard == shard && !bodies.contains($0) }
    var restored = 0
    if !orphans.isEmpty {
      let records = (try? Catalog(path: folder.catalog(of: shard)).records()) ?? [:]
      // The latest first, as only one of a key can have a row.
      let latest = orphans.sorted { records[$0]?.storedAt ?? 0 > records[$1]?.storedAt ?? 0 }
      for orphan in latest where settle(orphan, records[orphan]) == .restored { restored += 1 }
    }
    let present = Set(names)
    for entry in entries where !present.contains(entry.record.body.text) {
      // It may have come after the names were listed.
      if folder.size(of: entry.record.body) == nil { remove(entry.record) }
    }
    try? Catalog(path: folder.catalog(of: shard)).compact(to: entries.count) { folder.size(of: $0) != nil }
    return restored
  }

  /// What is to become of a body without a row.
  private enum Settlement {
    case restored
    /// It has gone.
    case orphaned
    /// It has one by now.
    case entered
  }

  /// Gives a body without a row its row back by what the catalog tells of it, or removes it.
  ///
  /// - Returns: Nil where nothing can be told now: its writer is alive and about to enter it, another process settles
  ///   it and may be killed before it has, or the index is busy or not complete.
  private func settle(_ body: BodyName, _ record: EntryRecord?) -> Settlement? {
    let path = folder.path(of: body)
    guard let file = try? OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
      return folder.size(of: body) == nil ? .orphaned : nil
    }
    guard isAbandoned(file) else { return nil }
    let limits = limits
    let settlement = pool.touch { index throws(SQLiteError) -> Settlement? in
      guard try index.hasRead(body.shard) else { return nil }
      try index.overrule()
      // It may have got its row before its writer gave the lock back.
      if let entered = try index.entry(with: Int64(bitPattern: body.keyHash)) {
        return entered.record.body == body ? .entered : .orphaned
      }
      guard let record, folder.size(of: body) == record.size else { return .orphaned }
      let total = try index.total(of: record.budget)
      let room = Eviction(stored: total.bytes, incoming: record.size, limit: limits[record.budget])
      guard room.required == 0 else { return .orphaned }
      try index.insert(record, line: record.line, usedAt: Int(record.storedAt))
      return .restored
    }
    guard let settlement = settlement ?? nil else { return nil }
    if settlement == .orphaned { unlink(path) }
    return settlement
  }

  private func correctUses() {
    let now = now
    _ = pool.touch { index throws(SQLiteError) in
      try index.correctUses(after: now + TouchLedger.coarseness, now: now)
    }
  }
}

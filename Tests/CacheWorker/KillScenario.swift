import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import Glibc

/// The work of two processes on one cache, which are killed.
struct KillScenario {
  typealias Work = (DiskCache) throws -> Void

  /// The state after an earlier process was killed when it had a body without a row.
  struct Left {
    /// Whether it was killed as early as possible in that state, or else as late.
    var isFirst: Bool
    var work: Work
  }

  var name: String
  var limit = 1 << 20
  /// Only every nth trial of the scenario.
  var interval = 8
  /// Whether rows may be left without bodies.
  ///
  /// They count as absent.
  var mayLoseBodies = false
  var before: Work = storing([0, 1, 2])
  /// The age of that state.
  var daysBefore = 0.0
  /// The change made to the folder afterwards.
  var spoil: (String) -> Void = { _ in }
  var left: Left?
  var first: Work
  var second: Work

  static var all: [KillScenario] {
    [
      KillScenario(name: "new", before: { _ in }, first: storing([0]), second: storing([1])),
      // The most common work, with an interval small enough to find faults within the first call.
      KillScenario(name: "another", interval: 1, first: storing([3]), second: storing([4])),
      KillScenario(
        name: "together",
        interval: 2,
        first: { cache in try storeTogether([3, 0, 5].map { Specimen(key: $0, version: 6) }, in: cache) },
        second: storing([4])
      ),
      KillScenario(name: "same", first: storing([0], 2), second: storing([0], 3)),
      KillScenario(name: "evict", limit: 60_000, first: storing([5, 7]), second: storing([8])),
      KillScenario(name: "remove", first: removing(1), second: storing([1], 2)),
      KillScenario(name: "trim", first: { try $0.trim(to: ByteCount(0)) }, second: storing([1], 2)),
      KillScenario(
        name: "clear",
        interval: 200,
        mayLoseBodies: true,
        first: { try $0.clear() },
        second: storing([1], 2)
      ),
      KillScenario(
        name: "pin",
        limit: 40_000,
        first: { cache in
          _ = try cache.pin(Specimen.key(1))
          _ = try cache.unpin(Specimen.key(1))
        },
        second: storing([1], 2)
      ),
      KillScenario(
        name: "expire",
        daysBefore: 8,
        first: { for key in 0..<3 { _ = $0.read(Specimen.key(key)) } },
        second: { _ = $0.read(Specimen.key(0)) }
      ),
      KillScenario(
        name: "damage",
        mayLoseBodies: true,
        spoil: { for body in Files.bodies(in: $0) { truncate(body, 100) } },
        first: { for key in 0..<3 { _ = $0.read(Specimen.key(key)) } },
        second: storing([0], 2)
      ),
      KillScenario(
        name: "verify",
        interval: 200,
        mayLoseBodies: true,
        spoil: { for body in Files.bodies(in: $0) { truncate(body, 100) } },
        first: { _ = try $0.verify() },
        second: storing([0], 2)
      ),
      KillScenario(
        name: "lose",
        spoil: { unlink($0 + "/index.sqlite") },
        first: storing([0], 2),
        second: { _ = $0.contains((0..<3).map(Specimen.key)) }
      ),
      KillScenario(name: "interrupt", first: interrupting(1), second: storing([0], 2)),
      KillScenario(
        name: "resume",
        interval: 1,
        before: { cache in
          let writer = try cache.makeWriter()
          try Specimen(key: 1, version: 9).bytes.withUnsafeBytes { try writer.write($0) }
          writer.writeRecoveryRecord(try metadata(1))
          Victim.mark = Specimen(key: 1, version: 9).bytes.count
          // Ends the process as a kill would.
          _exit(0)
        },
        first: { _ = $0.partialDownload(of: Specimen.key(1)) },
        second: storing([0], 2)
      ),
      KillScenario(
        name: "placed",
        left: Left(isFirst: true, work: storing([0], 4)),
        first: storing([3]),
        second: storing([4])
      ),
      KillScenario(
        name: "displaced",
        // An eighth of it is less than the displaced body, which the cache therefore removes at once.
        limit: 48_000,
        left: Left(isFirst: false, work: storing([0], 4)),
        first: storing([3]),
        second: storing([0], 5)
      ),
    ]
  }

  static func storing(_ keys: [Int], _ version: Int = 1) -> Work {
    { cache in for key in keys { try store(Specimen(key: key, version: version), in: cache) } }
  }

  static func removing(_ key: Int) -> Work { { cache in _ = try cache.remove(Specimen.key(key)) } }

  /// Writes half of an image and its recovery record, then writes more until it is stopped.
  static func interrupting(_ key: Int) -> Work {
    { cache in
      let writer = try cache.makeWriter()
      let bytes = Specimen(key: key, version: 9).bytes
      try bytes.prefix(bytes.count / 2).withUnsafeBytes { try writer.write($0) }
      writer.writeRecoveryRecord(try metadata(key))
      Victim.mark = bytes.count / 2
      try bytes.dropFirst(bytes.count / 2).prefix(100).withUnsafeBytes { try writer.write($0) }
      // A kill in the middle of this may lose the bytes.
      Victim.mark = 0
      try writer.keepPartial(try metadata(key))
    }
  }

  func makeCache(in folder: String, daysAgo: Double = 0) -> DiskCache {
    let limits = CacheLimits(originals: ByteCount(limit), thumbnails: ByteCount(limit), unusedDays: 7)
    return DiskCache(folder: folder, limits: limits) { SystemClock.seconds() - daysAgo * 86_400 }
  }

  /// The faults in a cache after another image was stored.
  func faults(in folder: String) -> [String] {
    var faults: [String] = []
    // Half a day later, when the store also removes the bodies that new versions have replaced.
    let cache = makeCache(in: folder, daysAgo: -0.5)
    do {
      try store(Specimen(key: 10, version: 0), in: cache)
      var images: [StoredImage] = []
      try cache.list(by: .used) {
        images.append($0)
        return true
      }
      let lost = images.filter { cache.read($0.key) == nil }.map(\.key)
      let beginning = cache.partialDownload(of: Specimen.key(1))?.bytes ?? []
      if beginning.count < Victim.mark {
        faults.append("\(beginning.count) of \(Victim.mark) bytes of a beginning")
      }
      if !beginning.isEmpty, !Specimen.isBeginning(beginning, key: 1) { faults.append("a wrong beginning") }
      cache.close()
      let rows = Set(images.map(\.path))
      let bodies = Files.bodies(in: folder)
      for path in bodies.subtracting(rows) { faults.append("no row for \(path)") }
      if !mayLoseBodies { faults += lost.map { "lost \($0)" } }
      let left = Files.names(in: folder + "/incoming")
      if !left.isEmpty { faults.append("left \(left.sorted().joined(separator: " "))") }
    } catch {
      faults.append("\(error)")
    }
    return faults
  }
}

import CFaults
import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import Glibc

/// Fails each system call of the cache in turn, and checks that at most the one image is lost.
struct FaultTrial {
  let folder: String
  /// Fails every nth call only.
  ///
  /// With 1 it fails all of them, which takes minutes.
  let stride: Int

  private struct Kind {
    var name: String
    var error: Int32
    var fault: feedimg_fault
  }

  private static let kinds = [
    Kind(name: "ENOSPC once", error: ENOSPC, fault: FEEDIMG_FAULT_ONCE),
    Kind(name: "EIO once", error: EIO, fault: FEEDIMG_FAULT_ONCE),
    Kind(name: "EMFILE once", error: EMFILE, fault: FEEDIMG_FAULT_ONCE),
    Kind(name: "ENOSPC from then on", error: ENOSPC, fault: FEEDIMG_FAULT_FROM),
    Kind(name: "EIO from then on", error: EIO, fault: FEEDIMG_FAULT_FROM),
    Kind(name: "EACCES from then on", error: EACCES, fault: FEEDIMG_FAULT_FROM),
    Kind(name: "short", error: 0, fault: FEEDIMG_FAULT_SHORT),
  ]

  /// The work of the cache while calls fail.
  private enum Work: CaseIterable {
    case storing
    /// All images share one transaction.
    case storingTogether
    /// Maintains all shards, so that fewer of its calls fail.
    case caring

    var interval: Int { self == .caring ? 24 : self == .storing ? 1 : 2 }
  }

  /// Prints the problems and the number of faults.
  func run() {
    var faults = 0
    var calls: Set<String> = []
    for work in Work.allCases {
      let stride = stride * work.interval
      for isNew in work == .caring ? [false] : [true, false] {
        for (offset, kind) in Self.kinds.enumerated() {
          var number = 1 + (offset * 5 * work.interval + (isNew ? 0 : 2)) % stride
          while let call = trial(kind, at: number, work, isNew: isNew) {
            calls.insert(call)
            faults += 1
            number += stride
          }
        }
      }
    }
    let names = calls.sorted().joined(separator: " ")
    say("faults \(faults) in \(names)")
  }

  private func makeCache() -> DiskCache {
    let limits = CacheLimits(originals: ByteCount(200_000), thumbnails: ByteCount(200_000), unusedDays: 7)
    return DiskCache(folder: folder, limits: limits, clock: SystemClock.seconds)
  }

  /// Uses the cache with one fault.
  ///
  /// Returns the failed call, or nil if there were fewer calls.
  private func trial(_ kind: Kind, at number: Int, _ work: Work, isNew: Bool) -> String? {
    if isNew {
      try? makeCache().clear()
      unlink(folder + "/lock")
      unlink(folder + "/CACHEDIR.TAG")
      rmdir(folder)
    }
    let cache = makeCache()
    if work == .caring { for key in 0..<3 { try? store(Specimen(key: key, version: number), in: cache) } }
    feedimg_faults_begin(folder, number, kind.error, kind.fault)
    switch work {
    case .storing: useCache(cache, kind, number)
    case .storingTogether:
      try? storeTogether((0..<3).map { Specimen(key: $0, version: number) }, in: cache)
    case .caring: careFor(cache, kind, number)
    }
    cache.close()
    let count = feedimg_faults_end()
    let call = String(cString: feedimg_faults_call())
    check(cache, kind, number)
    if work == .storingTogether, kind.error == ENOSPC, kind.fault == FEEDIMG_FAULT_ONCE {
      // If the rows of all do not fit, the row of each may still fit.
      let kept = (0..<3).count {
        cache.read(Specimen.key($0))?.bytes == Specimen(key: $0, version: number).bytes
      }
      if kept < 2 { say("\(kept) of 3 kept after \(kind.name) in \(call), call \(number)") }
    }
    recover(cache, "\(kind.name) in \(call), call \(number)")
    return count < number ? nil : call
  }

  private func useCache(_ cache: DiskCache, _ kind: Kind, _ number: Int) {
    for key in 0..<3 { try? store(Specimen(key: key, version: number), in: cache) }
    check(cache, kind, number)
    _ = try? cache.pin(Specimen.key(0))
    _ = try? cache.unpin(Specimen.key(0))
    _ = try? cache.remove(Specimen.key(1))
  }

  private func careFor(_ cache: DiskCache, _ kind: Kind, _ number: Int) {
    _ = try? cache.info()
    try? cache.list(by: .size) { _ in true }
    _ = try? cache.pin(Specimen.key(0))
    _ = try? cache.verify()
    check(cache, kind, number)
    _ = try? cache.trim(to: ByteCount(30_000))
  }

  /// Every readable image is complete.
  private func check(_ cache: DiskCache, _ kind: Kind, _ number: Int) {
    for key in 0..<3 {
      guard let found = cache.read(Specimen.key(key)) else { continue }
      if !Specimen.isWhole(found.bytes, key: key) { say("wrong \(key) after \(kind.name) at \(number)") }
    }
  }

  /// Afterwards everything works and is consistent.
  private func recover(_ cache: DiskCache, _ fault: String) {
    do {
      for key in 0..<3 { try store(Specimen(key: key, version: 0), in: cache) }
      for key in 0..<3 where cache.read(Specimen.key(key))?.bytes != Specimen(key: key, version: 0).bytes {
        say("lost \(key) after \(fault)")
      }
      let checked = try cache.verify()
      let entries = try cache.info().entries
      if entries != 3 || !checked.removed.isEmpty {
        say("\(entries) entries, \(checked) after \(fault)")
      }
      cache.close()
    } catch {
      say("\(error) after \(fault)")
    }
  }
}

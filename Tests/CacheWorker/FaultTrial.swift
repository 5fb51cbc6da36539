import CFaults
import FeedimgCache
import FeedimgModel
import Glibc

/// Lets each system call of the cache fail in turn, and sees that nothing but the one image is lost.
struct FaultTrial {
  let folder: String
  /// Only every so many calls fail; one for all of them, which takes minutes.
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

  /// Says what went wrong, and how many faults there have been.
  func run() {
    var faults = 0
    var calls: Set<String> = []
    for isNew in [true, false] {
      for (offset, kind) in Self.kinds.enumerated() {
        var number = 1 + (offset * 5 + (isNew ? 0 : 2)) % stride
        while let call = trial(kind, at: number, isNew: isNew) {
          calls.insert(call)
          faults += 1
          number += stride
        }
      }
    }
    let names = calls.sorted().joined(separator: " ")
    say("faults \(faults) in \(names)")
  }

  private func makeCache() -> DiskCache {
    let limits = CacheLimits(originals: ByteCount(200_000), thumbnails: ByteCount(200_000), unusedDays: 7)
    return DiskCache(folder: folder, limits: limits, clock: WallClock.seconds)
  }

  /// Uses the cache with one fault; the call that failed, or nil when there were fewer calls.
  private func trial(_ kind: Kind, at number: Int, isNew: Bool) -> String? {
    if isNew {
      try? makeCache().clear()
      unlink(folder + "/lock")
      unlink(folder + "/CACHEDIR.TAG")
      rmdir(folder)
    }
    let cache = makeCache()
    feedimg_faults_begin(folder, number, kind.error, kind.fault)
    var stored: [Int] = []
    for key in 0..<3 where (try? store(Specimen(key: key, version: number), in: cache)) != nil {
      stored.append(key)
    }
    check(cache, kind, number)
    _ = try? cache.remove(Specimen.key(1))
    cache.close()
    let count = feedimg_faults_end()
    let call = String(cString: feedimg_faults_call())
    check(cache, kind, number)
    recover(cache, "\(kind.name) in \(call), call \(number)")
    return count < number ? nil : call
  }

  /// Whatever can be read is whole.
  private func check(_ cache: DiskCache, _ kind: Kind, _ number: Int) {
    for key in 0..<3 {
      guard let found = cache.read(Specimen.key(key)) else { continue }
      if !Specimen.isWhole(found.bytes, key: key) { say("wrong \(key) after \(kind.name) at \(number)") }
    }
  }

  /// Afterwards everything works, and everything is in accord.
  private func recover(_ cache: DiskCache, _ fault: String) {
    do {
      for key in 0..<3 { try store(Specimen(key: key, version: 0), in: cache) }
      for key in 0..<3 where cache.read(Specimen.key(key))?.bytes != Specimen(key: key, version: 0).bytes {
        say("lost \(key) after \(fault)")
      }
      let checked = try cache.verify()
      let entries = try cache.info().entries
      if entries != 3 || checked.restored > 0 || !checked.removed.isEmpty {
        say("\(entries) entries, \(checked) after \(fault)")
      }
      cache.close()
    } catch {
      say("\(error) after \(fault)")
    }
  }
}

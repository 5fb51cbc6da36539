import CFaults
import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import Glibc
import TestSystem

// CacheWorker TASK FOLDER [LIMIT or STRIDE]: performs a task on a cache until it is done, killed, or standard
// input ends.

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { exit(2) }
let limit = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 1 << 20
func makeCache() -> DiskCache {
  DiskCache(
    folder: arguments[2],
    limits: CacheLimits(originals: ByteCount(limit), thumbnails: ByteCount(limit), unusedDays: 7),
    clock: SystemClock.seconds
  )
}
let cache = makeCache()
let keys = 48

switch arguments[1] {
case "write":
  // Stores one image after the other without end, and reports each.
  _ = Specimen(key: 0, version: 0).bytes
  while true {
    let specimen = Specimen(key: .random(in: 0..<keys), version: .random(in: 0..<1 << 40))
    do { try store(specimen, in: cache) } catch { say("error \(error)") }
    say("stored")
    if Int.random(in: 0..<16) == 0 { _ = try? cache.remove(Specimen.key(.random(in: 0..<keys))) }
  }

case "write-some":
  // Stores each key once.
  for key in 0..<keys {
    do { try store(Specimen(key: key, version: Int(getpid())), in: cache) } catch { say("error \(error)") }
  }
  cache.close()
  say("done")

case "read":
  // Reads until the test stops it. Every image must be one that was stored.
  var (whole, misses) = (0, 0)
  say("ready")
  while !isToldToStop() {
    // Opens the cache again each time, because opening must not fail either.
    let cache = makeCache()
    do {
      let info = try cache.info()
      for part in [info.originals, info.thumbnails] where part.size.bytes > limit {
        say("over the limit: \(part)")
      }
    } catch {
      say("cannot open: \(error)")
    }
    for _ in 0..<32 {
      let key = Int.random(in: 0..<keys)
      guard let found = cache.read(Specimen.key(key)) else {
        misses += 1
        continue
      }
      guard Specimen.isWhole(found.bytes, key: key), found.image.key == Specimen.key(key) else {
        say("wrong \(key) in \(found.image.path)")
        exit(1)
      }
      whole += 1
    }
  }
  say("whole \(whole) misses \(misses)")

case "probe":
  // Reports the state of each key, and whether another image can be stored.
  let present = cache.contains((0..<keys).map(Specimen.key)).filter { $0 }.count
  let whole = (0..<keys).filter { key in
    cache.read(Specimen.key(key)).map { Specimen.isWhole($0.bytes, key: key) } ?? false
  }
  say("present \(present) whole \(whole.count)")
  do {
    try store(Specimen(key: 0, version: 1), in: cache)
    say("stored")
  } catch {
    say("error \(error)")
  }

case "list":
  // Reports whether each image is complete, and the number in the totals.
  try cache.list(by: .used) { image in
    say("\(image.key) \(cache.read(image.key) == nil ? "wrong" : "whole")")
    return true
  }
  say("entries \(try cache.info().entries)")

case "fill":
  // Stores until the disk is full or the limit is reached, then reports whether all images are complete.
  var stored = 0
  while stored < 500 {
    do {
      try store(Specimen(key: stored, version: 1), in: cache)
      stored += 1
    } catch {
      say("error \(error)")
      break
    }
  }
  let present = cache.contains((0..<stored).map(Specimen.key)).filter { $0 }.count
  let whole = (0..<stored).filter { key in
    cache.read(Specimen.key(key)).map { Specimen.isWhole($0.bytes, key: key) } ?? false
  }
  var room = statvfs()
  statvfs(arguments[2], &room)
  say("stored \(stored) present \(present) whole \(whole.count) free \(room.f_bavail * room.f_frsize)")
  do {
    try cache.clear()
    try store(Specimen(key: 0, version: 2), in: cache)
    say("stored after clearing")
  } catch {
    say("error \(error)")
  }

case "recover":
  // Tries three times to store an image.
  for number in 0..<3 {
    do {
      try store(Specimen(key: number, version: 1), in: cache)
      say("stored")
    } catch {
      say("error \(error)")
    }
  }

case "newest":
  // Stores large images in pieces, and reports whether each is kept.
  for number in 0..<6 {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
    do {
      let writer = try cache.makeWriter()
      for start in stride(from: 0, to: bytes.count, by: 65_536) {
        try bytes[start..<min(start + 65_536, bytes.count)].withUnsafeBytes { try writer.write($0) }
      }
      let key = Specimen.key(number * 3 + 1)
      _ = try writer.commit(try metadata(number * 3 + 1))
      say(cache.read(key)?.bytes == bytes ? "kept" : "lost")
    } catch {
      say("error \(error)")
    }
  }

case "refuse":
  // Writes an image to a disk that stays full, and reports the bytes that were evicted for it.
  for key in 0..<keys { try store(Specimen(key: key, version: 1), in: cache) }
  let before = try cache.info().size.bytes
  let writer = try cache.makeWriter()
  // Moves the image to a file, so that the next call is the write.
  _ = writer.makeReader()
  feedimg_faults_begin(arguments[2], 1, ENOSPC, FEEDIMG_FAULT_FROM)
  do {
    try Specimen.long(key: 0).bytes.withUnsafeBytes { try writer.write($0) }
    say("written")
  } catch {
    say("error \(error)")
  }
  feedimg_faults_end()
  let after = try cache.info().size.bytes
  say("evicted \(before - after)")

case "squeeze":
  // Stores images in one transaction with limited room for their rows, and reports the state.
  for key in 0..<keys { try store(Specimen(key: key, version: 1), in: cache) }
  let fresh = (keys..<keys + 6).map { Specimen(key: $0, version: 2) }
  let (others, room) = (arguments[2] + "/../others", Int(arguments[4]) ?? 0)
  try storeTogether(fresh, in: cache) { Files.fill(others, leaving: room) }
  let stored = fresh.count { cache.read(Specimen.key($0.key))?.bytes == $0.bytes }
  let there = cache.contains((0..<keys + 6).map(Specimen.key)).filter { $0 }.count
  let sound = (0..<keys + 6).count { key in
    cache.read(Specimen.key(key)).map { Specimen.isWhole($0.bytes, key: key) } ?? false
  }
  let checked = try cache.verify()
  let bodies = Files.bodies(in: arguments[2]).count
  say("stored \(stored) present \(there) whole \(sound) bodies \(bodies) removed \(checked.removed.count)")

case "renew":
  // Checks everything and stores an image. Replaces a lost index on the way.
  say("ready")
  _ = cache.contains((0..<keys).map(Specimen.key))
  try? store(Specimen(key: 0, version: 1), in: cache)

case "trickle":
  // Writes one image in small pieces and reports its length after each.
  let specimen = Specimen.long(key: 0)
  let writer = try cache.makeWriter()
  let bytes = specimen.bytes
  for start in stride(from: 0, to: bytes.count, by: 64) {
    try bytes[start..<min(start + 64, bytes.count)].withUnsafeBytes { try writer.write($0) }
    if start == 0 { writer.writeRecoveryRecord(try metadata(0)) }
    say("\(min(start + 64, bytes.count))")
  }
  while !isToldToStop() {}

case "go-on":
  // Reports the length of a partial image.
  say("ready")
  let beginning = cache.partialDownload(of: Specimen.key(0))?.bytes ?? []
  let isWhole = beginning.count < 16 || Specimen.isBeginning(beginning, key: 0)
  say("\(isWhole ? "whole" : "wrong") \(beginning.count)")

case "starve":
  // Uses up all descriptors and releases them.
  try? store(Specimen(key: 1, version: 1), in: cache)
  cache.close()
  var taken: [Int32] = []
  while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 { taken.append(descriptor) }
  say("present \(cache.contains([Specimen.key(1)])[0]) read \(cache.read(Specimen.key(1)) != nil)")
  do {
    try store(Specimen(key: 2, version: 1), in: cache)
    say("stored")
  } catch {
    say("error \(error)")
  }
  for descriptor in taken { close(descriptor) }
  say("present \(cache.contains([Specimen.key(1)])[0]) read \(cache.read(Specimen.key(1)) != nil)")

case "faults":
  FaultTrial(folder: arguments[2], stride: max(1, limit)).run()

case "kills":
  KillTrial(folder: arguments[2], stride: max(1, limit)).run(arguments.count > 4 ? arguments[4] : nil)

default: exit(2)
}

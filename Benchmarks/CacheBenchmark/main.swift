// Uses a cache as the library does and reports the times, for Benchmarks/cache.
//
//   CacheBenchmark TASK FOLDER COUNT [SIZE]
//
// COUNT is the number of images in the folder or to store, and SIZE the size of each. Prints lines with a
// name, the median and the 99th percentile in microseconds. A name with "rate" has a rate instead.
import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization
import TestSystem

let arguments = CommandLine.arguments
guard arguments.count >= 4, let count = Int(arguments[3]), count > 0 else {
  print("usage: CacheBenchmark TASK FOLDER COUNT [SIZE]")
  exit(2)
}
let folder = arguments[2]
let size = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0

func nanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Prints the median and the 99th percentile of times in nanoseconds.
func tell(_ name: String, _ times: [Int]) {
  let sorted = times.sorted()
  let figures = [sorted[sorted.count / 2], sorted[sorted.count * 99 / 100]].map { Double($0) / 1000 }
  print(name, figures[0], figures[1])
}

func measure(_ name: String, _ runs: Int, _ body: (Int) -> Void) {
  var times: [Int] = []
  times.reserveCapacity(runs)
  for run in 0..<runs {
    let start = nanoseconds()
    body(run)
    times.append(nanoseconds() - start)
  }
  tell(name, times)
}

/// Advances by a minute with each reading, so that every use is written to disk.
let isHurried = arguments[1] == "touch"
let hurriedTime = Mutex(SystemClock.seconds())

func makeCache(limit: ByteCount = ByteCount(1 << 50)) -> DiskCache {
  DiskCache(
    folder: folder,
    limits: CacheLimits(originals: limit, thumbnails: limit, unusedDays: 36_500),
    clock: {
      isHurried
        ? hurriedTime.withLock {
          $0 += 61
          return $0
        } : SystemClock.seconds()
    }
  )
}

func key(_ number: Int) -> String { "https://images.example.org/photos/\(number)/original.jpg" }

let fields = HTTPFields([
  .init(name: "ETag", value: "\"5f3a-5e1b7c0d4a2c0\""), .init(name: "Cache-Control", value: "max-age=86400"),
  .init(name: "Last-Modified", value: "Sat, 21 Nov 2026 10:00:00 GMT"),
])

func metadata(_ number: Int) throws -> ImageMetadata {
  let head = ResponseHead(status: 200, fields: fields, url: try ImageURL(key(number)))
  let now = Double(time(nil))
  let response = StoredResponse(head: head, requestedAt: now, respondedAt: now)
  return ImageMetadata(key: key(number), role: .original, mediaType: "image/jpeg", response: response)
}

func store(_ number: Int, _ bytes: [UInt8], in cache: DiskCache) throws {
  let writer = try cache.makeWriter()
  try bytes.withUnsafeBytes { try writer.write($0) }
  _ = try writer.commit(metadata(number))
}

let bytes = (0..<max(1, size)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
let runs = 20_000

switch arguments[1] {
case "fill":
  // Images that already exist are not stored again.
  let cache = makeCache()
  let there = try cache.info().entries
  let start = nanoseconds()
  for number in there..<max(there, count) { try store(number, bytes, in: cache) }
  let stored = max(1, count - there)
  print("store", Double(nanoseconds() - start) / Double(stored) / 1000, 0)
  let end = nanoseconds()
  cache.close()
  print("close", Double(nanoseconds() - end) / 1000, 0)

case "together":
  // In groups of 50 per transaction, as in a prefetch whose images arrive faster than transactions end.
  let cache = makeCache()
  let start = nanoseconds()
  for group in stride(from: 0, to: count, by: 50) {
    let executor = OwnExecutor()
    for number in group..<min(group + 50, count) {
      let writer = try cache.makeWriter()
      try bytes.withUnsafeBytes { try writer.write($0) }
      let metadata = try metadata(number)
      Task(executorPreference: executor) { _ = try? await writer.commit(metadata, executor.afterwards) }
    }
    executor.run()
  }
  print("together", Double(nanoseconds() - start) / Double(count) / 1000, 0)
  if try cache.info().entries != count { exit(1) }

case "open":
  // Includes the first look-up, because opening alone does nothing yet.
  measure("open", 500) { _ in
    let cache = makeCache()
    if !cache.contains([key(.random(in: 0..<count))])[0] { print("missing") }
    cache.close()
  }

case "look":
  let cache = makeCache()
  // Created before, because random numbers from the kernel cost half a microsecond.
  let there = (0..<runs).map { _ in key(.random(in: 0..<count)) }
  let missing = (0..<runs).map { _ in key(.random(in: count..<2 * count)) }
  measure("hit", runs) { _ = cache.contains([there[$0]]) }
  measure("miss", runs) { _ = cache.contains([missing[$0]]) }
  measure("read", runs) { _ = cache.read(there[$0]) }
  measure("read_miss", runs) { _ = cache.read(missing[$0]) }

case "warm":
  // One image repeatedly, alternating with a plain open and read of its file.
  let cache = makeCache()
  guard let path = cache.read(key(0))?.image.path else { exit(1) }
  var plain: [Int] = []
  var cached: [Int] = []
  for _ in 0..<runs {
    let start = nanoseconds()
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    let content = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
      filled = max(0, read(descriptor, buffer.baseAddress, size))
    }
    close(descriptor)
    let middle = nanoseconds()
    let found = cache.read(key(0))
    cached.append(nanoseconds() - middle)
    plain.append(middle - start)
    if content.count != size || found?.bytes.count != size { exit(1) }
  }
  tell("plain", plain)
  tell("cached", cached)

case "touch":
  let cache = makeCache()
  measure("touch", runs) { _ in cache.noteUse(of: key(.random(in: 0..<count)), for: HTTPFields()) }

case "write":
  // Stores its own images for two seconds, while other processes use the cache.
  let cache = makeCache()
  let start = nanoseconds()
  var (stored, times): (Int, [Int]) = (0, [])
  while nanoseconds() - start < 2_000_000_000 {
    let begin = nanoseconds()
    try store(count * 2 + Int(getpid()) * 1_000_000 + stored, bytes, in: cache)
    times.append(nanoseconds() - begin)
    stored += 1
  }
  tell("write", times)

case "beside":
  // Reads for two seconds, while other processes use the cache.
  let cache = makeCache()
  let start = nanoseconds()
  var times: [Int] = []
  while nanoseconds() - start < 2_000_000_000 {
    let begin = nanoseconds()
    _ = cache.contains([key(.random(in: 0..<count))])
    times.append(nanoseconds() - begin)
  }
  tell("beside", times)

case "evict":
  // A tenth in one step, then the next image with a full budget.
  let cache = makeCache()
  let total = try cache.info().size.bytes
  let start = nanoseconds()
  let trimmed = try cache.trim(to: ByteCount(total / 10 * 9))
  print("evict", Double(nanoseconds() - start) / Double(max(1, trimmed.entries)) / 1000, 0)

case "full":
  // Stores images while each one evicts others.
  let full = try makeCache().info().originals.size
  let cache = makeCache(limit: full)
  measure("full", 5000) { run in try? store(count * 3 + run, bytes, in: cache) }

case "info":
  let cache = makeCache()
  let start = nanoseconds()
  let info = try cache.info()
  print("info", Double(nanoseconds() - start) / 1000, 0)
  print("bytes", info.size.bytes, info.sizeOnDisk.bytes)

default: exit(2)
}

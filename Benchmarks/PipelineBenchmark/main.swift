// A scrolling client on a link that the script measures, for Benchmarks/pipeline:
//
//   PipelineBenchmark visible BASE COUNT FIRST LAST   prefetches BASE1 to BASECOUNT, then shows rows FIRST to LAST
//   PipelineBenchmark scroll BASE COUNT SLOTS         shows the first rows until they are complete, then scrolls
//                                                     past COUNT rows, 16 ms each, and stays at the last
//   PipelineBenchmark memory BASE COUNT SLOTS         shows COUNT rows, each until it is complete
//   PipelineBenchmark slots BASE COUNT SLOTS          keeps SLOTS slots over COUNT images, then releases them
//
// Prints the result as one line of JSON.
import Feedimg
import Glibc
import Synchronization

let clock = SuspendingClock()

func item(_ base: String, _ number: Int) throws -> FeedItem {
  FeedItem(
    id: String(number),
    original: ImageVariant(role: .original, url: try ImageURL("\(base)\(number)")),
    thumbnail: nil
  )
}

func loader(_ folder: String, memory limit: String? = nil) throws -> ImageLoader {
  var configuration = ImageLoader.Configuration()
  configuration.cacheFolder = folder + "/cache"
  configuration.configurationFolder = folder + "/config"
  configuration.overrides = [
    SituationOverride(fact: "network", value: "wifi", source: "the benchmark"),
    SituationOverride(fact: "metered", value: "no", source: "the benchmark"),
  ]
  if let limit { try Settings(configuration).set("cache-memory-limit", to: limit) }
  return try ImageLoader(configuration)
}

func shown(_ slot: ImageSlot) async {
  for await presentation in slot.presentations where !presentation.isLoading {
    if let error = presentation.error { print(error) }
    return
  }
}

func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }

/// The peak resident memory so far, in KiB.
func peakMemory() -> Int {
  var usage = rusage()
  getrusage(0, &usage)  // this process (RUSAGE_SELF)
  return usage.ru_maxrss
}

func visible(_ base: String, _ count: Int, _ rows: ClosedRange<Int>, _ loader: ImageLoader) async throws {
  let all = try (1...count).map { try item(base, $0) }
  let prefetch = loader.prefetch(
    all,
    limits: Prefetch.Limits(total: .mebibytes(1024), perImage: .mebibytes(64))
  )
  // The link is busy and measured before any row is shown.
  while prefetch.progress.fetched < 4 { try await Task.sleep(for: .milliseconds(5)) }
  let start = clock.now
  let slots = rows.map { row in
    let slot = loader.slot()
    slot.show(all[row - 1])
    return slot
  }
  for slot in slots { await shown(slot) }
  let elapsed = clock.now - start
  print("{\"milliseconds\": \(milliseconds(elapsed))}")
  fflush(nil)
  // Preempted downloads resume without losing bytes.
  while prefetch.progress.fetched < 12 { try await Task.sleep(for: .milliseconds(20)) }
  prefetch.stop()
  await prefetch.finish()
}

func scroll(_ base: String, _ count: Int, _ slotCount: Int, _ loader: ImageLoader) async throws {
  let slots = (0..<slotCount).map { _ in loader.slot() }
  for (number, slot) in slots.enumerated() { slot.show(try item(base, number + 1)) }
  for slot in slots { await shown(slot) }
  for row in (slotCount + 1)...(slotCount + count) {
    slots[row % slotCount].show(try item(base, row))
    try await Task.sleep(for: .milliseconds(16))
  }
  let start = clock.now
  for slot in slots { await shown(slot) }
  print("{\"milliseconds\": \(milliseconds(clock.now - start))}")
}

func memory(_ base: String, _ count: Int, _ slotCount: Int, _ loader: ImageLoader) async throws {
  var early = 0
  let start = clock.now
  for first in stride(from: 1, through: count, by: slotCount) {
    // New slots, because slots that are soon bound again delay their loads as during scrolling.
    let slots = (0..<slotCount).map { _ in loader.slot() }
    for (offset, slot) in slots.enumerated() { slot.show(try item(base, min(first + offset, count))) }
    for slot in slots { await shown(slot) }
    if early == 0, first > count / 10 { early = peakMemory() }
  }
  let elapsed = milliseconds(clock.now - start)
  print("{\"milliseconds\": \(elapsed), \"peakAtATenth\": \(early), \"peak\": \(peakMemory())}")
}

/// The resident memory now, in KiB (proc(5), statm).
func residentMemory() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 128)
  guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
  let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self).split(separator: " ")
  return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) / 1024 : 0
}

func slots(_ base: String, _ count: Int, _ slotCount: Int, _ loader: ImageLoader) async throws {
  let first = loader.slot()
  first.show(try item(base, 1))
  await shown(first)
  let before = residentMemory()
  var slots = (0..<slotCount).map { _ in loader.slot() }
  for (number, slot) in slots.enumerated() { slot.show(try item(base, number % count + 1)) }
  for slot in slots { await shown(slot) }
  try await Task.sleep(for: .seconds(2))
  let live = residentMemory()
  slots = []
  try await Task.sleep(for: .seconds(2))
  let after = residentMemory()
  print(
    """
    {"bytesPerSlot": \((live - before) * 1024 / slotCount), "before": \(before), "live": \(live), \
    "after": \(after)}
    """
  )
}

func run(_ arguments: [String]) async throws -> Int32 {
  let numbers = arguments.dropFirst(2).compactMap { Int($0) }
  guard arguments.count >= 4, let template = "/tmp/feedimg-pipeline-XXXXXX".withCString({ strdup($0) }) else {
    return 2
  }
  defer { free(template) }
  guard let folder = mkdtemp(template).map({ String(cString: $0) }) else { return 1 }
  defer { system("rm -rf '\(folder)'") }
  // Otherwise the cache would grow, up to a sixteenth of the machine's memory.
  let loader = try loader(folder, memory: arguments[0] == "memory" ? "8MiB" : nil)
  switch (arguments[0], numbers.count) {
  case ("visible", 3): try await visible(arguments[1], numbers[0], numbers[1]...numbers[2], loader)
  case ("scroll", 2): try await scroll(arguments[1], numbers[0], numbers[1], loader)
  case ("memory", 2): try await memory(arguments[1], numbers[0], numbers[1], loader)
  case ("slots", 2): try await slots(arguments[1], numbers[0], numbers[1], loader)
  default: return 2
  }
  return 0
}

let status = try await run(Array(CommandLine.arguments.dropFirst()))
if status == 2 { print("usage: PipelineBenchmark visible|scroll|memory|slots BASE COUNT …, see the source") }
exit(status)

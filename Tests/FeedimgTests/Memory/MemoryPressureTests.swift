import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import FoundationEssentials
import Glibc
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Eviction from memory under memory pressure.
@Suite(.serialized, .timeLimit(.minutes(10))) struct MemoryPressureTests {
  private static let stalls = "/proc/pressure/memory"
  private let memory = MemoryCache {
    MemoryLimits(encoded: .mebibytes(1), decoded: .mebibytes(1))
  }
  private let key = DecodedKey(url: "a", size: DisplaySize(width: 8, height: 8), format: .rgba)

  /// Stores one image of each kind.
  private func fill() throws {
    let image = MemoryCache.Image(role: .original, mediaType: "image/png", bytes: [1, 2, 3], path: nil)
    memory.insert(image, for: "a")
    let pixels = [UInt8](repeating: 9, count: 256)
    let size = PixelSize(width: 8, height: 8)
    let bitmap = try #require(Bitmap(size: size, format: .rgba, isOpaque: false, bytes: pixels))
    memory.insert(bitmap, for: key, of: image.bytes)
  }

  private var kept: [Bool] { [memory[key] != nil, memory["a"] != nil] }

  @Test func `decoded images are evicted first, then encoded ones, then prefetching stops`() async throws {
    let system = try FakeSystem()
    try system.makePipe(Self.stalls)
    let pressure = MemoryPressure(memory, files: system.files)
    try fill()
    #expect(kept == [true, true])
    pressure.start()
    try system.write(Self.stalls, "!")
    while kept != [false, true] { await Task.yield() }
    #expect(pressure.step == .decodedImages)
    try system.write(Self.stalls, "!")
    while kept != [false, false] { await Task.yield() }
    #expect(pressure.step == .encodedImages && pressure.allowsPrefetch)
    try system.write(Self.stalls, "!")
    while pressure.allowsPrefetch { await Task.yield() }
    pressure.stop()
    #expect(pressure.step == .nothing)
    try fill()
    #expect(kept == [true, true], "the evicted kinds are allowed again")
  }

  @Test func `a program's own warning frees memory until it takes it back`() async throws {
    let test = try TestLoader(.offline, decoder: SteppedDecoder())
    let url = try ImageURL("http://a.example/a.png")
    try await test.loader.store(SampleImage.png, for: url)
    test.loader.trimMemory(.decodedImages)
    #expect(await test.loader.cached(url)?.source == .memory)
    #expect(test.loader.resources.storage.pressure.allowsPrefetch)
    test.loader.trimMemory(.prefetch)
    #expect(await test.loader.cached(url)?.source == .disk)
    #expect(await test.loader.cached(url)?.source == .disk, "memory keeps nothing meanwhile")
    #expect(!test.loader.resources.storage.pressure.allowsPrefetch)
    test.loader.trimMemory(.nothing)
    _ = await test.loader.cached(url)
    #expect(await test.loader.cached(url)?.source == .memory)
    #expect(test.loader.resources.storage.pressure.allowsPrefetch)
  }

  @Test func `the higher step of the watch and the program holds`() throws {
    let pressure = MemoryPressure(memory)
    try fill()
    pressure.request(.encodedImages)
    #expect(pressure.step == .encodedImages && kept == [false, false])
    pressure.stop()
    #expect(pressure.step == .encodedImages)
    pressure.request(.nothing)
    #expect(pressure.step == .nothing)
  }

  @Test func `an image that a caller holds stays complete`() async throws {
    let system = try FakeSystem()
    try system.makePipe(Self.stalls)
    let pressure = MemoryPressure(memory, files: system.files)
    try fill()
    let shown = try #require(memory[key])
    pressure.start()
    try system.write(Self.stalls, "!")
    while kept != [false, true] { await Task.yield() }
    #expect(shown.bytes == [UInt8](repeating: 9, count: 256))
  }

  @Test func `evicted kinds are allowed again after a quiet time`() async throws {
    let system = try FakeSystem()
    try system.makePipe(Self.stalls)
    let pressureState = PressureState(recovery: .milliseconds(1))
    let pressure = MemoryPressure(memory, files: system.files, pressureState: pressureState)
    try fill()
    pressure.start()
    try system.write(Self.stalls, "!")
    while kept != [true, true] || pressure.step != .nothing {
      try fill()
      await Task.yield()
    }
  }

  @Test func `the file named by the service manager takes precedence over the system's file`() async throws {
    let system = try FakeSystem()
    try system.makePipe("/run/told")
    try system.makePipe(Self.stalls)
    let environment = [
      "MEMORY_PRESSURE_WATCH": system.files.path("/run/told"), "MEMORY_PRESSURE_WRITE": "c29tZQA=",
    ]
    #expect(PSIFile.Place(environment: environment)?.trigger == Array("some\0".utf8))
    #expect(PSIFile.Place(environment: ["MEMORY_PRESSURE_WATCH": "/dev/null"])?.path == "")
    let pressure = MemoryPressure(memory, environment: environment, files: system.files)
    pressure.start()
    try system.write("/run/told", "!")
    while pressure.step != .decodedImages { await Task.yield() }
  }

  @Test func `nothing is watched before the start or after the stop`() async throws {
    let system = try FakeSystem()
    try system.makePipe(Self.stalls)
    let pressure = MemoryPressure(memory, files: system.files)
    // Threads of other tests may take a moment to end.
    while Self.isWatching { await Task.yield() }
    pressure.start()
    pressure.start()
    while !Self.isWatching { await Task.yield() }
    pressure.stop()
    pressure.start()
    while Self.isWatching { await Task.yield() }
    #expect(pressure.step == .nothing)
  }

  @Test func `without readable files nothing is watched and nothing fails`() async throws {
    let system = try FakeSystem(["/proc/pressure/memory/folder": ""])
    let pressure = MemoryPressure(memory, files: system.files)
    pressure.start()
    while Self.isWatching { await Task.yield() }
    try fill()
    #expect(kept == [true, true])
  }

  @Test func `the watch starts once, when there is memory to evict`() throws {
    let calls = Calls()
    memory.setLimits(MemoryLimits(encoded: .mebibytes(64), decoded: ByteCount(0)))
    memory.whenFilled { calls.count.add(1, ordering: .relaxed) }
    for number in 0..<8 {
      let bytes = [UInt8](repeating: 0, count: 1 << 20)
      memory.insert(.init(role: .original, mediaType: "image/png", bytes: bytes, path: nil), for: "\(number)")
      #expect(calls.count.load(ordering: .relaxed) == (number < 3 ? 0 : 1))
    }
  }

  @Test(.enabled(if: LiveGroup.isPermitted, "this system grants no control groups for memory"))
  func `a real shortage in a control group is detected`() async throws {
    let group = try LiveGroup()
    let (steps, continuation) = AsyncStream.makeStream(of: MemoryStep.self)
    let watch = MemoryWatch(.system(SystemFiles()), SystemFiles(), PressureState()) { continuation.yield($0) }
    defer { watch?.stop() }
    try #require(watch).begin()
    for await step in steps where step == .decodedImages { break }
    withExtendedLifetime(group) {}
  }

  private static var isWatching: Bool {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.contains { SystemFiles().read("/proc/self/task/\($0)/comm") == "feedimg-memory\n" }
  }
}

/// Counts calls from any thread.
private final class Calls: Sendable {
  let count = Atomic(0)
}

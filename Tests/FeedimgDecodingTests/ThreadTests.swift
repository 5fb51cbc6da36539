import CPixels
import FeedimgModel
import Glibc
import Synchronization
import Testing

@testable import FeedimgDecoding

/// The threads of decoding, and cancellation.
struct ThreadTests {
  @Test func `many pictures are decoded on a few threads, never on the caller's`() async throws {
    let decoder = CodecDecoder(threads: 2)
    let bytes = try Fixture.bytes("fields.jpg")
    let sizes = try await withThrowingTaskGroup(of: PixelSize.self) { group in
      for _ in 0..<200 {
        group.addTask {
          try await decoder.decode(bytes, DecodeRequest(DisplaySize(width: 16, height: 16))).bitmap.size
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(sizes == Array(repeating: PixelSize(width: 16, height: 12), count: 200))
  }

  @Test func `a request that is cancelled before its turn ends at once`() async throws {
    let threads = DecodingThreads(width: 1)
    let gate = Gate()
    let isGivenUp = Mutex<[Bool]>([])
    threads.submit({ _ in gate.pass() }, number: threads.nextNumber())
    let waiting = threads.nextNumber()
    threads.submit({ value in isGivenUp.withLock { $0.append(value) } }, number: waiting)
    threads.giveUp(waiting)
    threads.giveUp(waiting)
    #expect(isGivenUp.withLock(\.self) == [true])
    gate.open()
  }

  @Test func `a cancelled task gets a cancellation error`() async throws {
    let decoder = CodecDecoder(threads: 1)
    let bytes = try Fixture.bytes("fields.jpg")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      do throws(DecodeError) {
        _ = try await decoder.decode(bytes, DecodeRequest())
        return nil as DecodeError?
      } catch {
        return error
      }
    }
    #expect(await task.value?.code == .cancelled)
  }

  @Test(arguments: ["fields.jpg", "fields.png", "fields.webp", "fields.avif", "animation.gif"])
  func `a decoder that is told to stop stops`(_ file: String) throws {
    let stop = StopSign()
    stop.set()
    let bytes = try Fixture.bytes(file)
    let error = #expect(throws: DecodeError.self) {
      try CodecDecoder.decode(bytes, DecodeRequest(), DecodingLimits(), stop)
    }
    #expect(error?.code == .cancelled)
  }

  /// The width of the result for a picture 64 pixels wide and 64 high: full, smaller, and tiny.
  @Test(arguments: [64.0, 32, 1])
  func `steps after decoding stop too`(_ width: Double) throws {
    let pixels = [UInt8](repeating: 200, count: 64 * 64 * 4)
    let stored = PixelSize(width: 64, height: 64)
    let size = DisplaySize(width: width, height: width)
    let placement = Placement(stored: stored, isTurned: false, display: size)
    let stop = StopSign()
    try pixels.withUnsafeBufferPointer { pixels throws in
      var head = cpixels_head()
      (head.width, head.height, head.orientation) = (64, 64, 1)
      var frame = cpixels_frame()
      frame.pixels = pixels.baseAddress
      (frame.width, frame.height, frame.stride, frame.is_opaque) = (64, 64, 64 * 4, true)
      let conversion = ColorConversion(head, isCMYK: false)
      let rendered = RenderedFrame(frame, head, placement, .rgba, conversion, stop)
      #expect(try rendered.bitmap().size == placement.storedSize)
      stop.set()
      let error = #expect(throws: DecodeError.self) { try rendered.bitmap() }
      #expect(error?.code == .cancelled)
    }
  }

  @Test func `at most as many jobs run at once as there are threads, in order`() async throws {
    let threads = DecodingThreads(width: 2)
    let gates = (0..<2).map { _ in Gate() }
    let begun = Mutex<[Int]>([])
    let ended = AsyncStream.makeStream(of: Void.self)
    for number in 0..<4 {
      threads.submit(
        { _ in
          begun.withLock { $0.append(number) }
          if number < 2 { gates[number].pass() }
          ended.continuation.yield()
        },
        number: threads.nextNumber()
      )
    }
    while begun.withLock(\.count) < 2 { await Task.yield() }
    #expect(begun.withLock { $0.sorted() } == [0, 1], "both threads are busy")
    gates[0].open()
    var ends = ended.stream.makeAsyncIterator()
    for _ in 0..<3 { await ends.next() }
    #expect(begun.withLock { Array($0.suffix(2)) } == [2, 3])
    gates[1].open()
    await ends.next()
  }

  @Test func `jobs that were submitted run although their owner has gone`() async throws {
    let gate = Gate()
    let ended = AsyncStream.makeStream(of: Bool.self)
    do {
      let threads = DecodingThreads(width: 1)
      threads.submit({ _ in gate.pass() }, number: threads.nextNumber())
      threads.submit({ isGivenUp in ended.continuation.yield(isGivenUp) }, number: threads.nextNumber())
    }
    gate.open()
    var ends = ended.stream.makeAsyncIterator()
    #expect(await ends.next() == false)
  }
}

/// Holds a thread until it is opened.
private final class Gate: Sendable {
  private let isOpen = Atomic(false)

  func open() { isOpen.store(true, ordering: .releasing) }

  func pass() { while !isOpen.load(ordering: .acquiring) { sched_yield() } }
}

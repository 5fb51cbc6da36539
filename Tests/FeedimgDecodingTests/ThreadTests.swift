import CPixels
import FeedimgModel
import FeedimgSystem
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
    let (gate, hasRun, begun) = (Gate(), Gate(), Gate())
    let first = Task {
      try await threads.run(CancellationFlag()) {
        begun.open()
        gate.pass()
      }
    }
    while !begun.isOpen { await Task.yield() }
    await withTaskGroup { group in
      group.addTask {
        let error = await #expect(throws: DecodeError.self) {
          try await threads.run(CancellationFlag()) { hasRun.open() }
        }
        #expect(error?.code == .cancelled)
      }
      while threads.places.count < 1 { await Task.yield() }
      group.cancelAll()
    }
    gate.open()
    try await first.value
    #expect(!hasRun.isOpen)
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
    let stop = CancellationFlag()
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
    let stop = CancellationFlag()
    try pixels.withUnsafeBufferPointer { pixels throws in
      var head = cpixels_head()
      (head.width, head.height, head.orientation) = (64, 64, 1)
      var frame = cpixels_frame()
      frame.pixels = pixels.baseAddress
      (frame.width, frame.height, frame.stride, frame.is_opaque) = (64, 64, 64 * 4, true)
      let conversion = ColorConversion(head, isCMYK: false)
      let rendered = RenderedFrame(
        frame: frame,
        head: head,
        placement: placement,
        format: .rgba,
        conversion: conversion,
        stop: stop
      )
      #expect(try rendered.bitmap().size == placement.storedSize)
      stop.set()
      let error = #expect(throws: DecodeError.self) { try rendered.bitmap() }
      #expect(error?.code == .cancelled)
    }
  }

  @Test func `at most as many jobs run at once as there are threads, in order`() async throws {
    let threads = DecodingThreads(width: 2)
    let gates = (0..<2).map { _ in Gate() }
    let begun = Jobs()
    try await withThrowingTaskGroup { group in
      for number in 0..<4 {
        group.addTask {
          try await threads.run(CancellationFlag()) {
            begun.numbers.withLock { $0.append(number) }
            if number < 2 { gates[number].pass() }
          }
        }
        while begun.numbers.withLock(\.count) + threads.places.count <= number { await Task.yield() }
      }
      #expect(begun.numbers.withLock(\.self) == [0, 1], "both threads are busy")
      gates[0].open()
      for _ in 0..<3 { try await group.next() }
      #expect(begun.numbers.withLock(\.self) == [0, 1, 2, 3])
      gates[1].open()
    }
  }
}

/// The jobs that have begun, in order.
private final class Jobs: Sendable {
  let numbers = Mutex<[Int]>([])
}

/// Holds a thread until it is opened.
private final class Gate: Sendable {
  private let state = Atomic(false)

  var isOpen: Bool { state.load(ordering: .acquiring) }

  func open() { state.store(true, ordering: .releasing) }

  func pass() { while !isOpen { sched_yield() } }
}

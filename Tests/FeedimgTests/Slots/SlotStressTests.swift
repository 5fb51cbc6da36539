import FeedimgDecoding
import FeedimgModel
import FoundationEssentials
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Many slots that several threads bind at random.
///
/// Some request pixels, which show their source image. Half of the pictures arrive in scans. This short run
/// is part of the suite. `Scripts/thread-sanitizer-slots` is the long one.
@Suite(.timeLimit(.minutes(10))) struct SlotStressTests {
  /// The last binding of one slot, as the test recorded it.
  private final class Bound: Sendable {
    private let last = Mutex(0)

    /// Binds the next number under the lock, so that the record and the slot have the same order.
    func bind(_ show: (Int) -> Void) {
      last.withLock { last in
        show(last + 1)
        last += 1
      }
    }

    /// The last binding that was complete before this call.
    var ended: Int { last.withLock { $0 } }
  }

  private final class Tally: Sendable {
    let count = Atomic(0)
  }

  /// Decodes on real decoder threads.
  ///
  /// The red of its pixel is the mark of the image.
  private struct MarkingDecoder: ImageDecoding {
    let decoder = CodecDecoder(threads: 2)
    var mediaTypes: [String] { decoder.mediaTypes }

    func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage {
      var image = try await decoder.decode(bytes, request)
      let pixel = [SlotStressTests.mark(in: bytes), 0, 0, 255]
      let size = PixelSize(width: 1, height: 1)
      if let bitmap = Bitmap(size: size, format: request.format, isOpaque: true, bytes: pixel) {
        image.bitmap = bitmap
      }
      return image
    }

    func animation(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> ImageAnimation {
      try await decoder.animation(bytes, request)
    }
  }

  /// The requests: the bytes alone, or pixels of one of two sizes.
  private static let requests = [
    nil, DecodeRequest(DisplaySize(width: 2, height: 2)), DecodeRequest(DisplaySize(width: 4, height: 4)),
  ]

  /// The mark of a picture, which identifies its path.
  private static func mark(_ path: some StringProtocol) -> UInt8 {
    UInt8(path.drop { $0 == "/" }) ?? 0
  }

  /// A JPEG with the mark in a comment at its beginning (ITU T.81, B.2.4.5).
  private static func marked(_ jpeg: [UInt8], _ mark: UInt8) -> [UInt8] {
    jpeg[..<2] + [0xFF, 0xFE, 0, 3, mark] + jpeg[2...]
  }

  private static func mark(in jpeg: [UInt8]) -> UInt8 { jpeg.count > 6 ? jpeg[6] : 0 }

  /// Every second picture is progressive and arrives in three parts.
  private static func reply(_ path: String, _ clouds: [UInt8]) -> Reply {
    let mark = mark(path)
    guard mark.isMultiple(of: 2) else {
      return .response(200, [("Content-Type", "image/jpeg")], body: marked(SampleImage.jpeg, mark))
    }
    let bytes = marked(clouds, mark)
    let head = Reply.head(200, [("Content-Type", "image/jpeg"), ("Content-Length", String(bytes.count))])
    return Reply(
      [
        .send(head + bytes[..<905]), .pause(milliseconds: 2), .send(Array(bytes[905..<3305])),
        .pause(milliseconds: 2), .send(Array(bytes[3305...])),
      ],
      keepsConnection: true
    )
  }

  private static var rounds: Int { stressSeconds == nil ? 20 : .max }

  private static var stressSeconds: Double? {
    ProcessInfo.processInfo.environment["FEEDIMG_STRESS_SECONDS"].flatMap { Double($0) }
  }

  @Test func `a slot never shows an item that was bound before the latest`() async throws {
    let clouds = try Clouds.bytes()
    let server = try LoopbackServer { Self.reply($0.path, clouds) }
    let test = try TestLoader(decoder: MarkingDecoder())
    let slots = (0..<1000).map { _ in (slot: test.loader.slot(), bound: Bound()) }
    let variants = try (0..<40).map { ImageVariant(role: .original, url: try ImageURL(server.url("/\($0)"))) }
    let deadline = Self.stressSeconds.map { SuspendingClock.now + .seconds($0) }
    let scans = Tally()
    let watchers = slots.map { slot, bound in
      Task { () -> Int in
        var iterator = slot.presentations.makeAsyncIterator()
        var (seen, last) = (0, 0)
        while true {
          let least = bound.ended
          guard let next = await iterator.next(), let number = next.item.id.flatMap({ Int($0) }) else {
            return seen
          }
          #expect(number >= least, "bound before the wait began, shown after it")
          #expect(number >= last, "shown after a later one")
          if let path = next.item.original?.url.text.split(separator: "/").last, let pixels = next.pixels {
            #expect(pixels.bytes.first == Self.mark(path), "pixels of another image")
          }
          if next.scan != nil { scans.count.add(1, ordering: .relaxed) }
          (seen, last) = (seen + 1, number)
        }
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask { @concurrent in
          var random = SplitMix(state: UInt64(thread))
          var round = 0
          while round < Self.rounds, deadline.map({ SuspendingClock.now < $0 }) ?? true {
            round += 1
            // Each thread has slots of its own and some that all threads bind.
            for _ in 0..<250 {
              let (slot, bound) = slots[Int.random(in: 0..<slots.count, using: &random)]
              let variant = variants[Int.random(in: 0..<variants.count, using: &random)]
              let priority = LoadPriority.allCases.randomElement(using: &random) ?? .near
              let pixels = Self.requests[Int.random(in: 0..<3, using: &random)]
              bound.bind { number in
                let item = FeedItem(id: String(number), original: variant, thumbnail: nil)
                slot.show(item, pixels: pixels, priority: priority)
              }
              if round % 7 == 0 { slot.priority = .visible }
            }
            await Task.yield()
          }
        }
      }
    }
    // In the end each slot shows its last binding.
    for (slot, bound) in slots where bound.ended > 0 {
      for await presentation in slot.presentations where !presentation.isLoading {
        #expect(presentation.item.id == String(bound.ended))
        break
      }
    }
    for watcher in watchers { watcher.cancel() }
    var seen = 0
    for watcher in watchers { seen += await watcher.value }
    #expect(seen > 0)
    #expect(Self.stressSeconds == nil || scans.count.load(ordering: .relaxed) > 0)
  }
}

import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The order in which a busy decoder works.
@Suite(.timeLimit(.minutes(10))) struct DecodingOrderTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  private static func pixels(_ width: Double) -> DecodeRequest {
    DecodeRequest(DisplaySize(width: width, height: 2))
  }

  private func settled(_ slot: ImageSlot) async -> Presentation? {
    for await presentation in slot.presentations where !presentation.isLoading { return presentation }
    return nil
  }

  @Test func `visible images are decoded before nearby ones, and unneeded ones are not decoded`()
    async throws
  {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = HeldDecoder(width: 1)
    let test = try TestLoader(decoder: decoder)
    let queue = try #require(test.loader.resources.pixels)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let slots = (0..<5).map { _ in test.loader.slot() }
    for (index, slot) in slots.enumerated() {
      slot.show(item, pixels: Self.pixels(Double(index + 1)), priority: .near)
      while decoder.asked.all.isEmpty || queue.waiting < index { await Task.yield() }
    }
    slots[3].priority = .visible
    slots[1].clear()
    while queue.waiting > 3 { await Task.yield() }
    // It is visible only for a moment.
    slots[4].priority = .visible
    slots[4].priority = .near
    decoder.release()
    for index in [0, 2, 3, 4] { #expect(await settled(slots[index])?.pixels != nil) }
    #expect(decoder.asked.all.map { $0?.width } == [1, 4, 3, 5])
    #expect(decoder.stopped.load(ordering: .relaxed) == 0, "it was never started")
  }
}

import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg

/// Which images are decoded first when the decoder is busy.
@Suite(.timeLimit(.minutes(1))) struct DecodingOrderTests {
  private static let picture = Reply.answer(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  private static func pixels(_ width: Double) -> DecodeRequest {
    DecodeRequest(DisplaySize(width: width, height: 2))
  }

  private func settled(_ slot: ImageSlot) async -> Presentation? {
    for await presentation in slot.presentations where !presentation.isLoading { return presentation }
    return nil
  }

  @Test func `what comes into view is decoded before what is near, and what nobody wants is not`()
    async throws
  {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = HeldDecoder(width: 1)
    let test = try TestLoader(decoder: decoder)
    let desk = try #require(test.loader.pixels)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let slots = (0..<5).map { _ in test.loader.slot() }
    for (index, slot) in slots.enumerated() {
      slot.show(item, pixels: Self.pixels(Double(index + 1)), priority: .near)
      while decoder.asked.all.isEmpty || desk.waiting < index { await Task.yield() }
    }
    slots[3].priority = .visible
    slots[1].clear()
    while desk.waiting > 3 { await Task.yield() }
    // Seen for a moment only.
    slots[4].priority = .visible
    slots[4].priority = .near
    decoder.release()
    for index in [0, 2, 3, 4] { #expect(await settled(slots[index])?.pixels != nil) }
    #expect(decoder.asked.all.map { $0?.width } == [1, 4, 3, 5])
    #expect(decoder.stopped.load(ordering: .relaxed) == 0, "it was never begun")
  }

  @Test func `the line lets the most urgent in, of equals the first`() {
    var line = DecodingLine(width: 2)
    let (one, two) = (line.enter(.prefetch), line.enter(.prefetch))
    #expect(line.isRunning(one) && line.isRunning(two))
    let tickets = [LoadPriority.near, .prefetch, .near, .visible, .near].map { line.enter($0) }
    #expect(line.count == 5)
    #expect(line.leave(one) == tickets[3])
    #expect(line.leave(tickets[0]) == nil, "it waited")
    line.setPriority(tickets[1], .visible)
    #expect(line.leave(two) == tickets[1])
    #expect(line.leave(tickets[3]) == tickets[2])
    #expect(line.leave(tickets[1]) == tickets[4])
    #expect(line.leave(tickets[2]) == nil && line.leave(tickets[4]) == nil)
    let last = line.enter(.prefetch)
    #expect(line.count == 0 && line.isRunning(last))
  }
}

import FeedimgModel
import FoundationEssentials
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Slots that several threads bind at the same time without synchronization.
///
/// The last binding is known only if one call ended before another began. This short run is part of the
/// suite. `Scripts/thread-sanitizer-slots` is the long one.
@Suite(.timeLimit(.minutes(3))) struct RacedSlotStressTests {
  /// The calls that bound one slot, with their start times by number.
  private final class Calls: Sendable {
    private let clock = Atomic(0)
    private let ends = Mutex<[Int: Int]>([:])

    func bind(_ show: (Int) -> Void) {
      let begin = tick()
      ends.withLock { $0[begin] = .max }
      show(begin)
      ends.withLock { $0[begin] = tick() }
    }

    /// Whether a call had ended when the other began.
    func had(_ call: Int, endedBefore other: Int) -> Bool { ends.withLock { ($0[call] ?? .max) < other } }

    /// Whether a call may have been the last: no call began after its end.
    func mayBeLast(_ call: Int) -> Bool {
      ends.withLock { ends in ends[call].map { end in !ends.keys.contains { $0 > end } } ?? false }
    }

    private func tick() -> Int { clock.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }
  }

  private static var seconds: Double? {
    ProcessInfo.processInfo.environment["FEEDIMG_STRESS_SECONDS"].flatMap { Double($0) }
  }

  private static func number(_ presentation: Presentation) -> Int {
    presentation.item.id.flatMap { Int($0) } ?? 0
  }

  @Test func `an earlier binding is never shown after a later one, and the last one stays`()
    async throws
  {
    let server = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    let test = try TestLoader()
    let slots = (0..<100).map { _ in (slot: test.loader.slot(), calls: Calls()) }
    let variants = try (0..<40).map { ImageVariant(role: .original, url: try ImageURL(server.url("/\($0)"))) }
    let deadline = Self.seconds.map { SuspendingClock.now + .seconds($0) }
    let watchers = slots.map { slot, calls in
      Task { () -> Int in
        var (seen, last) = (0, 0)
        for await presentation in slot.presentations {
          let number = Self.number(presentation)
          #expect(!calls.had(number, endedBefore: last), "shown after a later binding")
          let image = presentation.image?.variant
          #expect(image == nil || image == presentation.item.original, "the image of another item")
          (seen, last) = (seen + 1, number)
        }
        return seen
      }
    }
    var round = 0
    while deadline.map({ SuspendingClock.now < $0 }) ?? (round < 5) {
      round += 1
      await withTaskGroup(of: Void.self) { group in
        for thread in 0..<4 {
          group.addTask { @concurrent in
            // All of them in the same order, so that they collide.
            for (index, (slot, calls)) in slots.enumerated() {
              let variant = variants[(index + thread) % variants.count]
              calls.bind { slot.show(FeedItem(id: String($0), original: variant, thumbnail: nil)) }
            }
          }
        }
      }
      for (slot, calls) in slots {
        for await presentation in slot.presentations where !presentation.isLoading {
          #expect(calls.mayBeLast(Self.number(presentation)))
          break
        }
      }
    }
    for watcher in watchers { watcher.cancel() }
    var seen = 0
    for watcher in watchers { seen += await watcher.value }
    #expect(seen > 0)
  }
}

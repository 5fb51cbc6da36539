import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The steps of eviction, on a clock that the test moves.
///
/// Times are in seconds.
struct PressureStateTests {
  enum Event: Sendable {
    case sign(Double)
    case wait(Double)
  }

  struct Story: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var events: [Event]
    var step: MemoryStep
    var deadline: Duration?
  }

  static let stories = [
    Story(testDescription: "without a sign, nothing wakes it", events: [], step: .nothing),
    Story(
      testDescription: "the first sign evicts the decoded images",
      events: [.sign(5)],
      step: .decodedImages,
      deadline: .seconds(35)
    ),
    Story(
      testDescription: "the second sign evicts the encoded images",
      events: [.sign(5), .sign(8)],
      step: .encodedImages,
      deadline: .seconds(38)
    ),
    Story(
      testDescription: "the third sign stops prefetching",
      events: [.sign(5), .sign(8), .sign(11)],
      step: .prefetch,
      deadline: .seconds(41)
    ),
    Story(
      testDescription: "a further sign at the top delays recovery",
      events: [.sign(5), .sign(8), .sign(11), .sign(40), .wait(41)],
      step: .prefetch,
      deadline: .seconds(70)
    ),
    Story(
      testDescription: "half a minute without signs goes back one step only",
      events: [.sign(5), .sign(8), .wait(38)],
      step: .decodedImages,
      deadline: .seconds(68)
    ),
    Story(
      testDescription: "an early wake-up goes back no step",
      events: [.sign(5), .wait(34.9)],
      step: .decodedImages,
      deadline: .seconds(35)
    ),
    Story(
      testDescription: "after full recovery there is no wake-up",
      events: [.sign(5), .sign(8), .wait(38), .wait(68), .wait(100)],
      step: .nothing
    ),
    Story(
      testDescription: "a sign during recovery climbs from the current step",
      events: [.sign(5), .sign(8), .wait(38), .sign(39)],
      step: .encodedImages,
      deadline: .seconds(69)
    ),
  ]

  @Test(arguments: stories) func `each sign goes up one step, and each quiet time goes down one step`(
    _ story: Story
  ) {
    var state = PressureState()
    for event in story.events {
      switch event {
      case .sign(let time): state.signalled(at: .seconds(time))
      case .wait(let time): state.waited(at: .seconds(time))
      }
    }
    #expect(state.step == story.step)
    #expect(state.deadline == story.deadline)
  }
}

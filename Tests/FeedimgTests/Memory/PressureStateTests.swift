import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The steps of eviction, on a clock that the test moves.
///
/// Times are in seconds.
struct PressureLadderTests {
  enum Event: Sendable {
    case sign(Double)
    case wait(Double)
  }

  struct Story: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var events: [Event]
    var step: PressureState.Step
    var rest: PressureState.Rest
  }

  static let stories = [
    Story(
      testDescription: "without a sign, nothing wakes it",
      events: [],
      step: .nothing,
      rest: .listening(until: nil)
    ),
    Story(
      testDescription: "the first sign evicts the decoded images, and signs right after it are ignored",
      events: [.sign(5)],
      step: .decodedImages,
      rest: .paused(until: .seconds(6))
    ),
    Story(
      testDescription: "it listens again when the step had time to work",
      events: [.sign(5), .wait(6)],
      step: .decodedImages,
      rest: .listening(until: .seconds(35))
    ),
    Story(
      testDescription: "the second sign evicts the encoded images",
      events: [.sign(5), .wait(6), .sign(8)],
      step: .encodedImages,
      rest: .paused(until: .seconds(9))
    ),
    Story(
      testDescription: "the third sign stops prefetching",
      events: [.sign(5), .wait(6), .sign(8), .wait(9), .sign(11)],
      step: .prefetch,
      rest: .paused(until: .seconds(12))
    ),
    Story(
      testDescription: "a further sign at the top delays recovery",
      events: [.sign(5), .wait(6), .sign(8), .wait(9), .sign(11), .wait(12), .sign(40), .wait(41)],
      step: .prefetch,
      rest: .listening(until: .seconds(70))
    ),
    Story(
      testDescription: "half a minute without signs goes back one step only",
      events: [.sign(5), .wait(6), .sign(8), .wait(9), .wait(38)],
      step: .decodedImages,
      rest: .listening(until: .seconds(68))
    ),
    Story(
      testDescription: "an early wake-up goes back no step",
      events: [.sign(5), .wait(6), .wait(34.9)],
      step: .decodedImages,
      rest: .listening(until: .seconds(35))
    ),
    Story(
      testDescription: "after full recovery there is no wake-up",
      events: [.sign(5), .wait(6), .sign(8), .wait(9), .wait(38), .wait(68)],
      step: .nothing,
      rest: .listening(until: nil)
    ),
    Story(
      testDescription: "a sign during recovery climbs from the current step",
      events: [.sign(5), .wait(6), .sign(8), .wait(9), .wait(38), .sign(39)],
      step: .encodedImages,
      rest: .paused(until: .seconds(40))
    ),
  ]

  @Test(arguments: stories) func `each sign goes up one step, and each quiet time goes down one step`(
    _ story: Story
  ) {
    var pressureState = PressureState()
    for event in story.events {
      switch event {
      case .sign(let time): pressureState.signalled(at: .seconds(time))
      case .wait(let time): pressureState.waited(at: .seconds(time))
      }
    }
    #expect(pressureState.step == story.step)
    #expect(pressureState.rest == story.rest)
  }
}

import FeedimgModel
import FeedimgTransfer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Which requests to a server in doubt go out, without any network.
@Suite @PipelineActor struct AttemptTests {
  private let url: ImageURL
  private let time = ManualTime()
  private let desk: RetryController

  /// A desk that has left a server alone, until a moment ago.
  init() async throws {
    let url = try ImageURL("http://h.example/a")
    (self.url, desk) = (url, RetryController(time.time, schedule: RetrySchedule(greatestTries: 1)))
    for _ in 0..<5 {
      await #expect(throws: LoadError.self) {
        try await desk.perform(url) { _ async throws(LoadError) -> Int in
          throw LoadError(.connection, url: url, message: "broken")
        }
      }
    }
    time.pass(.seconds(2))
  }

  /// Sends a request, which gets a status or fails.
  private func ask(_ begun: Attempt, _ response: Result<Int, LoadError>) throws(LoadError) {
    try begun.begin()
    switch response {
    case .success(let status): begun.responded(status: status, isImage: true)
    case .failure(let error):
      if error.code == .cancelled { begun.stopped() }
      throw error
    }
  }

  @Test(arguments: [(200, true), (206, true), (304, true), (404, true), (429, false), (500, false)])
  func `the head of an answer that does not speak against the server lets all ask`(
    status: Int,
    isWell: Bool
  )
    async throws
  {
    try ask(Attempt(url, desk), .success(status))
    #expect(desk.admit(url.origin, insisting: false) == (isWell ? false : nil))
  }

  @Test func `who waits for a place is not yet the one who tries`() async throws {
    let (early, late) = (Attempt(url, desk), Attempt(url, desk))
    try ask(late, .success(500))
    #expect(throws: LoadError.self) { try ask(early, .success(200)) }
    #expect(early.isHeldBack && !late.isHeldBack)
  }

  /// A server that was well when the load came, and fails while it waits for its place.
  @Test func `who has waited for a place asks no server that was given up meanwhile`() async throws {
    desk.reset()
    let begun = Attempt(url, desk)
    for _ in 0..<5 {
      await #expect(throws: LoadError.self) {
        try await desk.perform(url) { _ async throws(LoadError) -> Int in
          throw LoadError(.connection, url: url, message: "broken")
        }
      }
    }
    #expect(throws: LoadError.self) { try ask(begun, .success(200)) }
    #expect(begun.isHeldBack)
  }

  @Test func `who loses its place before an answer lets another one try, and waits for it`() async throws {
    let begun = Attempt(url, desk)
    #expect(throws: LoadError.self) {
      try ask(begun, .failure(LoadError(.cancelled, message: "")))
    }
    #expect(!begun.isHeldBack)
    #expect(desk.admit(url.origin, insisting: false) == true)
    #expect(throws: LoadError.self) { try ask(begun, .success(200)) }
    #expect(begun.isHeldBack)
    desk.probeAnswered(url.origin)
    try ask(begun, .success(200))
    #expect(!begun.isHeldBack)
  }

  @Test func `who was let go on is not asked again when it goes on later`() async throws {
    let begun = Attempt(url, desk)
    try ask(begun, .success(200))
    await #expect(throws: LoadError.self) {
      try await desk.perform(url) { _ async throws(LoadError) -> Int in
        throw LoadError(.connection, url: url, message: "broken")
      }
    }
    #expect(desk.admit(url.origin, insisting: false) == nil)
    try ask(begun, .success(206))
  }
}

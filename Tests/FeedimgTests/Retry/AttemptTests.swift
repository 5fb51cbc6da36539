import FeedimgModel
import FeedimgTransfer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Which requests go to a server whose circuit is not closed, without any network.
@Suite @PipelineActor struct AttemptTests {
  private let url: ImageURL
  private let time = ManualTime()
  private let controller: RetryController

  /// A controller with a circuit that became half-open a moment ago.
  init() async throws {
    let url = try ImageURL("http://h.example/a")
    (self.url, controller) = (url, RetryController(time.time, schedule: RetrySchedule(maximumTries: 1)))
    for _ in 0..<5 {
      await #expect(throws: LoadError.self) {
        try await controller.perform(url) { _ async throws(LoadError) -> Int in
          throw LoadError(.connection, url: url, message: "broken")
        }
      }
    }
    time.pass(.seconds(2))
  }

  /// Sends a request that gets a status or fails.
  private func ask(_ begun: Attempt, _ response: Result<Int, LoadError>) throws(LoadError) {
    try begun.begin()
    switch response {
    case .success(let status): begun.responded(status: status)
    case .failure(let error):
      if error.code == .cancelled { begun.stopped() }
      throw error
    }
  }

  @Test(arguments: [(200, true), (206, true), (304, true), (404, true), (429, false), (500, false)])
  func `a successful response head closes the circuit for all`(
    status: Int,
    isWell: Bool
  )
    async throws
  {
    try ask(Attempt(url, controller), .success(status))
    #expect(controller.admit(url.origin) == (isWell ? false : nil))
  }

  @Test func `a load that waits for a slot is not the probe yet`() async throws {
    let (early, late) = (Attempt(url, controller), Attempt(url, controller))
    try ask(late, .success(500))
    #expect(throws: LoadError.self) { try ask(early, .success(200)) }
    #expect(early.isWithheld && !late.isWithheld)
  }

  /// The server was well when the load came, and fails while the load waits for its slot.
  @Test func `a load that waited for a slot sends nothing if the circuit opened meanwhile`() async throws {
    controller.reset()
    let begun = Attempt(url, controller)
    for _ in 0..<5 {
      await #expect(throws: LoadError.self) {
        try await controller.perform(url) { _ async throws(LoadError) -> Int in
          throw LoadError(.connection, url: url, message: "broken")
        }
      }
    }
    #expect(throws: LoadError.self) { try ask(begun, .success(200)) }
    #expect(begun.isWithheld)
  }

  @Test func `a load that loses its slot before a response lets another one probe, and waits for it`()
    async throws
  {
    let begun = Attempt(url, controller)
    #expect(throws: LoadError.self) {
      try ask(begun, .failure(LoadError(.cancelled, message: "")))
    }
    #expect(!begun.isWithheld)
    #expect(controller.admit(url.origin) == true)
    #expect(throws: LoadError.self) { try ask(begun, .success(200)) }
    #expect(begun.isWithheld)
    controller.responded(url.origin)
    try ask(begun, .success(200))
    #expect(!begun.isWithheld)
  }

  @Test(arguments: [false, true])
  func `a late failure on an earlier network path does not close the circuit`(isProbe: Bool) async throws {
    var late = LoadError(.timeout, url: url, message: "late")
    late.cause = .pathChanged
    let failure = late
    await #expect(throws: LoadError.self) {
      try await controller.perform(url) { attempt async throws(LoadError) -> Int in
        if isProbe { try attempt.begin() }
        throw failure
      }
    }
    #expect(controller.admit(url.origin) == true, "the next request is the probe")
  }

  @Test func `a load that was allowed to continue is not checked again when it resumes`() async throws {
    let begun = Attempt(url, controller)
    try ask(begun, .success(200))
    for _ in 0..<5 {
      await #expect(throws: LoadError.self) {
        try await controller.perform(url) { _ async throws(LoadError) -> Int in
          throw LoadError(.connection, url: url, message: "broken")
        }
      }
    }
    #expect(controller.admit(url.origin) == nil)
    try ask(begun, .success(206))
  }
}

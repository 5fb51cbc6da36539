import FeedimgModel
import FeedimgTransfer
import Synchronization
import Testing

@testable import Feedimg

/// Which requests to a server in doubt go out, without any network.
@Suite struct LoadTryTests {
  /// Answers each request with what is next: a head, or a failure.
  private final class Scripted: Downloading {
    private let answers: Mutex<[Result<Int, LoadError>]>

    init(_ answers: [Result<Int, LoadError>]) { self.answers = Mutex(answers) }

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let status = try answers.withLock { $0.removeFirst() }.get()
      let head = ResponseHead(status: status, fields: HTTPFields(), url: request.url)
      try receiver.begin(head)
      return head
    }
  }

  private struct Ignoring: BodyReceiving {
    func begin(_ head: ResponseHead) {}
    func receive(_ bytes: UnsafeRawBufferPointer) {}
  }

  private let url: ImageURL
  private let time = ManualTime()
  private let desk: FailureDesk

  /// A desk that has left a server alone, until a moment ago.
  init() async throws {
    let url = try ImageURL("http://h.example/a")
    (self.url, desk) = (url, FailureDesk(time.time, schedule: RetrySchedule(greatestTries: 1)))
    for _ in 0..<5 {
      await #expect(throws: LoadError.self) {
        try await desk.perform(url) { _ async throws(LoadError) -> Int in
          throw LoadError(.connection, url: url, message: "broken")
        }
      }
    }
    time.pass(.seconds(2))
  }

  private func ask(_ begun: LoadTry, _ answer: Result<Int, LoadError>) async throws(LoadError) {
    let downloader = begun.downloader(Scripted([answer]))
    _ = try await downloader.download(DownloadRequest(url: url), into: Ignoring())
  }

  @Test(arguments: [(200, true), (206, true), (304, true), (404, true), (429, false), (500, false)])
  func `the head of an answer that does not speak against the server lets all ask`(
    status: Int,
    isWell: Bool
  )
    async throws
  {
    try await ask(LoadTry(url, desk), .success(status))
    #expect(desk.admit(url.origin) == (isWell ? .free : nil))
  }

  @Test func `who waits for a place is not yet the one who tries`() async throws {
    let (early, late) = (LoadTry(url, desk), LoadTry(url, desk))
    try await ask(late, .success(500))
    await #expect(throws: LoadError.self) { try await ask(early, .success(200)) }
    #expect(early.isHeldBack && !late.isHeldBack)
  }

  /// A server that was well when the load came, and fails while it waits for its place.
  @Test func `who has waited for a place asks no server that was given up meanwhile`() async throws {
    desk.reset()
    let begun = LoadTry(url, desk)
    for _ in 0..<5 {
      await #expect(throws: LoadError.self) {
        try await desk.perform(url) { _ async throws(LoadError) -> Int in
          throw LoadError(.connection, url: url, message: "broken")
        }
      }
    }
    await #expect(throws: LoadError.self) { try await ask(begun, .success(200)) }
    #expect(begun.isHeldBack)
  }

  @Test func `who loses its place before an answer lets another one try, and waits for it`() async throws {
    let begun = LoadTry(url, desk)
    await #expect(throws: LoadError.self) {
      try await ask(begun, .failure(LoadError(.cancelled, message: "")))
    }
    #expect(!begun.isHeldBack)
    #expect(desk.admit(url.origin) == .trial)
    await #expect(throws: LoadError.self) { try await ask(begun, .success(200)) }
    #expect(begun.isHeldBack)
    desk.trialAnswered(url.origin)
    try await ask(begun, .success(200))
    #expect(!begun.isHeldBack)
  }

  @Test func `who was let go on is not asked again when it goes on later`() async throws {
    let begun = LoadTry(url, desk)
    try await ask(begun, .success(200))
    await #expect(throws: LoadError.self) {
      try await desk.perform(url) { _ async throws(LoadError) -> Int in
        throw LoadError(.connection, url: url, message: "broken")
      }
    }
    #expect(desk.admit(url.origin) == nil)
    try await ask(begun, .success(206))
  }
}

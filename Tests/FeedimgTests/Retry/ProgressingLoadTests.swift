import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Loads whose every connection is interrupted after some progress.
@Suite(.timeLimit(.minutes(10))) struct ProgressingLoadTests {
  /// This much progress justifies another connection for an image of any size.
  private static let goodPart = 64 << 10

  private static let picture = PictureOrigin.picture(1, size: 386_093)
  private static let strong = [("ETag", "\"1\""), ("Accept-Ranges", "bytes")]

  private let time = ManualTime()

  @Test func `an image that needs more connections than there are attempts becomes complete`() async throws {
    let origin = try PictureOrigin(Self.picture, Self.strong)
    let test = try TestLoader(time: time.time, tries: 3)
    let item = try TestLoader.item(origin.server, original: "/a.jpg")
    origin.cut(after: 70_000, 70_000, 70_000, 70_000, 70_000)
    let load = Task { try await test.loader.load(item) }
    for _ in 0..<5 { await time.pass(.milliseconds(500), when: 1) }
    #expect(try await load.value.bytes == Self.picture)
    #expect(
      origin.requests.map { $0["Range"] }
        == [nil, "bytes=70000-", "bytes=140000-", "bytes=210000-", "bytes=280000-", "bytes=350000-"]
    )
  }

  @Test func `a server that sends one byte per connection is given up`() async throws {
    let server = try LoopbackServer { request in
      guard let first = request.rangeStart else {
        return .truncated(Self.picture, after: 50_000, Self.strong)
      }
      let fields = [
        ("Content-Range", "bytes \(first)-386092/386093"), ("Content-Length", "\(386_093 - first)"),
      ]
      return Reply([.send(Reply.head(206, Self.strong + fields) + [Self.picture[first]])])
    }
    let test = try TestLoader(time: time.time, tries: 4)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let load = Task { try await test.loader.load(item) }
    for _ in 0..<3 { await time.pass(.seconds(2), when: 1) }
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.code == .truncated)
    #expect(error?.message.hasSuffix("; 50003 of 386093 bytes are kept") == true, "\(error?.message ?? "")")
    #expect(server.log.requests.count == 4)
  }

  @Test func `a server that ignores ranges and interrupts every response is given up`() async throws {
    let server = try LoopbackServer { _ in
      .truncated(Self.picture, after: 120_000, [("ETag", "\"1\"")])
    }
    let test = try TestLoader(time: time.time, tries: 3)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let load = Task { try await test.loader.load(item) }
    for _ in 0..<2 { await time.pass(.seconds(2), when: 1) }
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.code == .truncated)
    #expect(server.log.requests.map { $0["Range"] } == [nil, "bytes=120000-", "bytes=120000-"])
  }

  /// A load whose every attempt is interrupted, with this many bytes stored after each.
  ///
  /// - Returns: The error, and the number of attempts.
  private func breaking(
    _ url: ImageURL,
    _ controller: RetryController,
    keeping kept: @escaping @Sendable (Int) -> Int
  ) -> Task<(error: LoadError?, tries: Int), Never> {
    Task {
      var tries = 0
      do throws(LoadError) {
        try await controller.perform(url) { begun async throws(LoadError) -> Void in
          tries += 1
          await begun.kept(kept(tries), of: nil)
          throw LoadError(.timeout, url: url, message: "no bytes came")
        }
        return (nil, tries)
      } catch {
        return (error, tries)
      }
    }
  }

  @Test func `attempts with progress do not count against the server`() async throws {
    let controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 2))
    let load = breaking(try ImageURL("http://a.example/a.jpg"), controller) { min($0, 20) * Self.goodPart }
    for _ in 1...20 { await time.pass(.milliseconds(500), when: 1) }
    let end = await load.value
    #expect(end.error?.code == .timeout)
    #expect(end.tries == 21)
    let other = try ImageURL("http://a.example/b.jpg")
    #expect(try await controller.perform(other) { _ async throws(LoadError) in 1 } == 1)
    #expect(time.sleepers == 0)
  }

  @Test func `progress gives more attempts for ten minutes only`() async throws {
    let controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 2))
    // Without the limit, the load would go on until its 20th attempt.
    let load = breaking(try ImageURL("http://a.example/a.jpg"), controller) { min($0, 20) * Self.goodPart }
    let minutes = Task {
      while !Task.isCancelled {
        if time.sleepers == 1 { time.pass(.seconds(60)) }
        await Task.yield()
      }
    }
    #expect(await load.value.tries == 11)
    minutes.cancel()
  }

  @Test(arguments: [(goodPart, false), (10, true)])
  func `good progress does not count against the network`(
    _ kept: Int,
    _ isOffline: Bool
  ) async throws {
    let controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 1))
    for number in 0..<8 {
      let end = await breaking(try ImageURL("http://h\(number).example/a.jpg"), controller) { _ in kept }
        .value
      #expect(end.tries == 1)
    }
    #expect(controller.liveness.isOffline == isOffline)
  }

  static let repetitions: [([Int], String)] = [
    ([goodPart], "the same progress each time"),
    ([2 * goodPart, 10], "sometimes hardly any progress"),
  ]

  @Test(arguments: repetitions)
  func `a load that restarts from the beginning each time has the usual number of attempts`(
    _ kept: [Int],
    _ reason: String
  ) async throws {
    let controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 3))
    let load = breaking(try ImageURL("http://a.example/a.jpg"), controller) { kept[($0 - 1) % kept.count] }
    for _ in 0..<2 { await time.pass(.seconds(1), when: 1) }
    let end = await load.value
    #expect(end.error?.code == .timeout)
    #expect(end.tries == 3, "\(reason)")
  }

  static let parts: [(before: Int, count: Int, total: Int?, isGood: Bool, reason: String)] = [
    (0, 65_536, 10_000_000, true, "64 KiB"),
    (0, 65_535, 10_000_000, false, "less than 64 KiB or a tenth"),
    (0, 10, 100, true, "a tenth"),
    (50, 54, 100, false, "less than a tenth of what was missing"),
    (50, 55, 100, true, "a tenth of what was missing"),
    (90, 91, 99, true, "a tenth of almost nothing"),
    (0, 65_535, nil, false, "the length is unknown"),
  ]

  @Test(arguments: parts) @PipelineActor
  func `good progress is a tenth of the missing bytes, or 64 KiB`(
    _ row: (before: Int, count: Int, total: Int?, isGood: Bool, reason: String)
  ) throws {
    let controller = RetryController(time.time)
    let attempt = Attempt(try ImageURL("http://a.example/a.jpg"), controller, beyond: row.before)
    attempt.kept(row.count, of: row.total)
    #expect(attempt.progress.isSubstantial == row.isGood, "\(row.reason)")
  }
}

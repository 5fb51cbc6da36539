import FeedimgCache
import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg

/// What comes of a transfer whose packets go another way while its answer comes; no time passes.
@Suite(.timeLimit(.minutes(10))) struct MovedTransferTests {
  typealias Row = StoppedTransferTests.Row

  private static let picture = StoppedTransferTests.picture
  private static let plain = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
  private static let tagged = plain + [("ETag", "\"1\"")]
  private static let strong = tagged + [("Accept-Ranges", "bytes")]

  static let rows =
    StoppedTransferTests.rows + [
      Row(plain, before: 1000, after: 3000, [nil, nil], "what cannot be gone on with begins anew"),
      Row(plain, before: 0, after: 0, [nil, nil], "a head alone is nothing"),
      Row(tagged, before: 1000, after: 3000, [nil, "bytes=1000-"], "nothing was said of ranges"),
    ]

  private static func test(_ downloader: LateDownloader) throws -> TestLoader {
    try TestLoader(downloader: downloader, time: ManualTime().time)
  }

  private static func item(_ url: String) throws -> FeedItem {
    FeedItem(original: ImageVariant(role: .original, url: try ImageURL(url)), thumbnail: nil)
  }

  /// Returns when a change of the network has been told to everybody, and what was due for it has begun.
  private static func change(_ test: TestLoader, to kind: NetworkKind, metered: Metered = .no) async {
    await test.become(kind, metered: metered)
    // One change is told after the other: by the next one, what was due for this one has been asked for.
    await test.become(kind, metered: metered == .unknown ? .no : .unknown)
    await Task(executorPreference: test.loader.disk) {}.value
  }

  private static func ranges(_ downloader: LateDownloader) -> [String: [String?]] {
    Dictionary(grouping: downloader.requests, by: \.url.text).mapValues { $0.map { $0.fields["Range"] } }
  }

  @Test(arguments: rows) func `an image goes on where packets go now, and is whole`(_ row: Row) async throws {
    let downloader = LateDownloader(Self.picture, row.fields, row.arrival)
    let test = try Self.test(downloader)
    let urls = ["http://a.example/p0", "http://b.example/p1"]
    let loads = urls.map { url in Task { try await test.loader.load(Self.item(url)) } }
    while downloader.begun < 2 { await Task.yield() }
    test.network.become(.ethernet)
    for load in loads { #expect(try await load.value.bytes == Self.picture) }
    for url in urls {
      let key = try ImageURL(url).key
      #expect(test.loader.store.read(key)?.bytes == Self.picture)
      #expect(test.loader.memory[key]?.bytes == Self.picture)
      #expect(Self.ranges(downloader)[url] == row.ranges, "\(row.reason)")
    }
    #expect(downloader.stopped == 2)
    #expect(test.loader.gate.isIdle)
  }

  static let stays: [(String, NetworkKind, Metered, String)] = [
    ("http://a.example/p", .wifi, .yes, "only the price has changed"),
    (
      "http://a.example/p", .offline, .no,
      "there is no other way, and whether to go on is the policy's matter"
    ),
    ("http://127.0.0.1/p", .ethernet, .no, "this machine is reached as before"),
  ]

  @Test(arguments: stays)
  func `nothing is stopped that another path does not help`(
    _ url: String,
    _ kind: NetworkKind,
    _ metered: Metered,
    _ reason: String
  ) async throws {
    let downloader = LateDownloader(Self.picture, Self.strong, .init(before: 1000, after: 3000))
    let test = try Self.test(downloader)
    let run = LoadRun(.visible)
    let receiver = Counted()
    let transfer = GatedTransfer(
      downloader: downloader,
      gate: test.loader.gate,
      request: DownloadRequest(url: try ImageURL(url)),
      receiver: receiver,
      run: run
    )
    test.loader.facts.watch()
    let task = Task { try await transfer.perform() }
    while downloader.begun < 1 { await Task.yield() }
    await Self.change(test, to: kind, metered: metered)
    downloader.release()
    _ = try await task.value
    #expect(downloader.stopped == 0, "\(reason)")
    #expect(receiver.bytes == Self.picture)
  }

  @Test func `what finds a place only where packets go now is sent once`() async throws {
    let downloader = HeldDownloader(holding: { _ in true })
    let test = try TestLoader(.cellular, downloader: downloader, time: ManualTime().time)
    let loads = try (0..<3).map { number in
      let item = try TestLoader.item(thumbnail: "http://a.example/\(number)")
      return Task { try await test.loader.load(item) }
    }
    // Two have a place, and the third gets one on a network that is probably faster.
    while downloader.asked.count < 2 || test.loader.desk.count < 3 { await Task.yield() }
    test.network.become(.ethernet)
    while downloader.asked.count < 2 * 2 + 1 { await Task.yield() }
    downloader.release()
    for load in loads { #expect(try await load.value.bytes == SampleImage.jpeg) }
    #expect(downloader.asked.count == 2 * 2 + 1)
  }

  static let answers: [([(String, String)], [String?], String)] = [
    (strong, [nil, "bytes=1000-"], "it goes on behind what was handed on"),
    (plain, [nil], "what was handed on cannot be gone on with, and would be torn"),
    (tagged, [nil], "nobody has said that it can be gone on with"),
  ]

  @Test(arguments: answers)
  func `an answer is whole for those who have it as it comes`(
    _ fields: [(String, String)],
    _ ranges: [String?],
    _ reason: String
  ) async throws {
    let downloader = LateDownloader(Self.picture, fields, .init(before: 1000, after: 3000))
    let test = try Self.test(downloader)
    let cache = AnswerCache(test.loader, beside: test.folder)
    let url = try ImageURL("http://a.example/p")
    let request = FetchRequest(url, fields: HTTPFields(), priority: .visible)
    let answer = Task { try await StoppedTransferTests.body(of: cache.answer(request)) }
    while downloader.begun < 1 { await Task.yield() }
    await Self.change(test, to: .ethernet)
    downloader.release()
    #expect(try await answer.value == Self.picture)
    #expect(cache.shelf.find(request).found?.bytes == Self.picture)
    #expect(Self.ranges(downloader)[url.text] == ranges, "\(reason)")
  }

  @Test func `a request that is still to go out is not stopped`() throws {
    let gate = TransferGate(ManualTime().time)
    let ticket = gate.enter(host: "a.example", .visible)
    let request = DownloadRequest(url: try ImageURL("http://a.example/p"))
    let relay = BodyRelay(request, Counted(), gate: gate, ticket: ticket, run: LoadRun(.visible))
    let attempt = TransferAttempt()
    relay.leavePath(attempt)
    #expect(!attempt.isStopped && !attempt.isMoved, "it takes the new path by itself")
    relay.begin(nil, attempt)
    relay.leavePath(attempt)
    #expect(attempt.isStopped && attempt.isMoved)
    gate.leave(ticket)
  }

  @Test func `what cannot be gone on with begins anew twice at most`() async throws {
    let downloader = EndlessDownloader()
    let gate = TransferGate(ManualTime().time)
    let transfer = GatedTransfer(
      downloader: downloader,
      gate: gate,
      request: DownloadRequest(url: try ImageURL("http://a.example/p")),
      receiver: Counted(),
      run: LoadRun(.visible)
    )
    let task = Task { try await transfer.perform() }
    for count in 1...3 {
      while downloader.begun < count { await Task.yield() }
      gate.leavePath()
    }
    // The third is left to itself, and fails for its old path alone.
    downloader.end()
    let error = await #expect(throws: LoadError.self) { try await task.value }
    #expect(error?.isOfOldPath == true)
    #expect(downloader.begun == 3)
    let failure = try #require(error)
    #expect(!Connectivity.counts(failure) && !CircuitBreaker.counts(failure))
    #expect(gate.isIdle)
  }
}

/// Takes what comes of the latest answer.
private final class Counted: BodyReceiving {
  private let taken = Mutex<[UInt8]>([])

  var bytes: [UInt8] { taken.withLock { $0 } }

  func requestBegins() { taken.withLock { $0 = [] } }
  func begin(_ head: ResponseHead) throws(LoadError) {}
  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) { taken.withLock { $0 += bytes } }
}

/// A server that stops within each answer, and tells no versions apart.
private final class EndlessDownloader: Downloading {
  private let state = Mutex((begun: 0, isOver: false))

  /// How many answers have begun.
  var begun: Int { state.withLock { $0.begun } }

  /// The connection is given up.
  func end() { state.withLock { $0.isOver = true } }

  private var isOver: Bool { state.withLock { $0.isOver } }

  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    try receiver.begin(
      ResponseHead(status: 200, fields: HTTPFields(), url: request.url, contentLength: 4000)
    )
    try receiver.receive([UInt8](repeating: 0, count: 1000)[...])
    state.withLock { $0.begun += 1 }
    while !Task.isCancelled, !isOver { await Task.yield() }
    throw Task.isCancelled
      ? LoadError(.cancelled, message: "cancelled") : LoadError(.timeout, message: "quiet")
  }
}

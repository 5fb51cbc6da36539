import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Loads on a network that claims to be connected but delivers nothing.
@Suite(.timeLimit(.minutes(10))) struct DeadNetworkTests {
  /// Hosts that respond by name: `slow` in steps, all others never.
  private final class Hosts: Downloading {
    let asked = RecordedValues<String>()
    let slowResponse: SlowResponse
    /// The progress of `slow`, and its limit.
    let reached = Atomic(0)
    let allowed = Atomic(1)
    /// Whether all failing requests have begun.
    let isRepaired = Atomic(false)

    init(_ slowResponse: SlowResponse = SlowResponse()) { self.slowResponse = slowResponse }

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      asked.add(request.url.text)
      if request.url.host == "slow.example" { return try await respondSlowly(request, receiver) }
      if isRepaired.load(ordering: .acquiring) {
        return try respond(request, "image/jpeg", SampleImage.jpeg[...], receiver)
      }
      throw LoadError(.timeout, url: request.url, message: "no response came within 20 s")
    }

    private func respond(
      _ request: DownloadRequest,
      status: Int = 200,
      _ mediaType: String,
      _ body: ArraySlice<UInt8>,
      _ receiver: any BodyReceiving
    ) throws(LoadError) -> ResponseHead {
      let fields = HTTPFields([.init(name: "Content-Type", value: mediaType)])
      let head = ResponseHead(status: status, fields: fields, url: request.url)
      try receiver.begin(head)
      try receiver.receive(body)
      return head
    }

    /// The head with the first bytes, then one byte, then the rest.
    private func respondSlowly(
      _ request: DownloadRequest,
      _ receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let (picture, count) = (SampleImage.jpeg, slowResponse.count)
      let head = try respond(request, status: slowResponse.status, "image/jpeg", picture[..<count], receiver)
      for part in [picture[count...count], picture[(count + 1)...]] {
        let step = reached.add(1, ordering: .acquiringAndReleasing).newValue
        while allowed.load(ordering: .acquiring) <= step, !Task.isCancelled { await Task.yield() }
        guard !Task.isCancelled else { throw LoadError(.cancelled, url: request.url, message: "cancelled") }
        try receiver.receive(part)
      }
      return head
    }

    func slowReaches(_ step: Int) async {
      while reached.load(ordering: .acquiring) < step { await Task.yield() }
    }

    /// The number of requested originals.
    var originals: Int { asked.all.count { $0.hasSuffix("/a") } }
  }

  /// How the slow host begins its response.
  struct SlowResponse: Sendable {
    var status = 200
    /// Bytes of the body that arrive with the head.
    var count = 100
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let failing: String
    let response: SlowResponse
    var testDescription: String { "\(failing) beside \(response.status) and \(response.count) bytes" }
  }

  private let time = ManualTime()

  private func item(_ host: String, thumbnail: Bool = false) throws -> FeedItem {
    FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL("http://\(host).example/a")),
      thumbnail: thumbnail
        ? ImageVariant(role: .thumbnail, url: try ImageURL("http://\(host).example/s")) : nil
    )
  }

  private func network(_ test: TestLoader) throws -> NetworkKind {
    test.loader.resolve(try item("later")).situation.network
  }

  /// Makes eight loads on two hosts fail.
  private func fail(_ name: String = "dead", _ test: TestLoader) async throws {
    for number in 0..<8 {
      let host = "\(name)\(number % 2)"
      await #expect(throws: LoadError.self) {
        try await test.loader.load(
          FeedItem(
            original: ImageVariant(role: .original, url: try ImageURL("http://\(host).example/\(number)")),
            thumbnail: nil
          )
        )
      }
    }
  }

  // MARK: Signs of life

  static let signs = [
    Row(failing: "dead", response: SlowResponse(count: 0)), Row(failing: "dead", response: SlowResponse()),
    Row(failing: "dead", response: SlowResponse(status: 404, count: 0)),
  ]

  @Test(arguments: signs)
  func `failures beside an arriving response do not count against the network`(
    _ row: Row
  )
    async throws
  {
    let hosts = Hosts(row.response)
    let test = try TestLoader(downloader: hosts, time: time.time)
    let slow = Task { [item = try item("slow")] in try await test.loader.load(item) }
    if row.response.status == 200 {
      await hosts.slowReaches(1)
    } else {
      // No caller waits for its rest.
      await #expect(throws: LoadError.self) { try await slow.value }
    }
    try await fail(row.failing, test)
    #expect(try network(test) == .wifi)
    hosts.allowed.store(9, ordering: .releasing)
    if row.response.status == 200 { #expect(try await slow.value.bytes == SampleImage.jpeg) }
  }

  @Test func `the next bytes of an image revive a network that counted as dead`() async throws {
    let hosts = Hosts()
    let test = try TestLoader(downloader: hosts, time: time.time)
    let slow = Task { [item = try item("slow")] in try await test.loader.load(item) }
    await hosts.slowReaches(1)
    time.pass(.seconds(3))
    try await fail("dead", test)
    #expect(try network(test) == .offline)
    hosts.allowed.store(2, ordering: .releasing)
    await hosts.slowReaches(2)
    #expect(try network(test) == .wifi)
    hosts.allowed.store(9, ordering: .releasing)
    #expect(try await slow.value.bytes == SampleImage.jpeg)
  }

  // MARK: For how long

  @Test func `many simultaneous failures start only the first cooldown`() async throws {
    let controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 1))
    let begun = RecordedValues<Int>()
    let loads = try (0..<8).map { number in
      let url = try ImageURL("http://h\(number).example/a")
      return Task {
        try await controller.perform(url) { _ async throws(LoadError) -> Int in
          begun.add(number)
          while begun.all.count < 8 { await Task.yield() }
          throw LoadError(.timeout, message: "no response came within 20 s")
        }
      }
    }
    for load in loads { await #expect(throws: LoadError.self) { try await load.value } }
    #expect(controller.liveness.isOffline)
    time.pass(NetworkLiveness.backoff.base)
    #expect(!controller.liveness.isOffline)
  }

  @Test func `a refused load leaves the probe of the network to the next one`() async throws {
    let controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 1))
    func fail(_ host: String, retryAfter: Int? = nil) async throws {
      let url = try ImageURL("http://\(host).example/\(retryAfter ?? 0)")
      await #expect(throws: LoadError.self) {
        try await controller.perform(url) { _ async throws(LoadError) -> Int in
          throw LoadError(.timeout, message: "no response came within 20 s", retryAfter: retryAfter)
        }
      }
    }
    for number in 0..<4 { try await fail("h\(number)") }
    try await fail("refused", retryAfter: 60)
    time.pass(NetworkLiveness.backoff.base)
    #expect(!controller.liveness.isOffline)
    // The circuit of this host is open.
    try await fail("refused", retryAfter: 61)
    #expect(!controller.liveness.isOffline)
  }

  // MARK: What loads do

  @Test func `failed loads on a dead network are not retried`() async throws {
    let controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 4))
    let (tries, ended) = (RecordedValues<Int>(), RecordedValues<Int>())
    let loads = try (0..<4).map { number in
      let url = try ImageURL("http://h\(number).example/a")
      return Task {
        defer { ended.add(number) }
        return try await controller.perform(url) { _ async throws(LoadError) -> Int in
          tries.add(number)
          throw LoadError(.timeout, message: "no response came within 20 s")
        }
      }
    }
    // The earlier failures wait for their second attempt.
    while time.sleepers < 3 || ended.all.isEmpty && time.sleepers < 4 { await Task.yield() }
    time.pass(.milliseconds(500))
    while ended.all.count < 4, tries.all.count == 4 { await Task.yield() }
    #expect(tries.all.count == 4)
    for load in loads {
      load.cancel()
      await #expect { try await load.value } throws: { ($0 as? LoadError)?.code == .timeout }
    }
  }

  @Test(arguments: [false, true])
  func `slots that gave up on a dead network load their images when it recovers`(
    isCached: Bool
  )
    async throws
  {
    let hosts = Hosts()
    let test = try TestLoader(.cellular, downloader: hosts, time: time.time, tries: 4)
    let items = try (0..<6).map { try item("h\($0)", thumbnail: isCached) }
    if isCached {
      hosts.isRepaired.store(true, ordering: .releasing)
      for item in items { #expect(try await test.loader.load(item).variant.role == .thumbnail) }
      hosts.isRepaired.store(false, ordering: .releasing)
    }
    // Another network clears the failures, so no load may fail before the change is known.
    await test.become(.wifi)
    time.pass(.seconds(3))
    let slots = items.map { _ in test.loader.slot() }
    for (slot, item) in zip(slots, items) { slot.show(item) }
    while try network(test) == .wifi { await Task.yield() }
    hosts.isRepaired.store(true, ordering: .releasing)
    while slots.contains(where: { $0.presentation?.shown != .original }) {
      if time.sleepers > 0 { time.pass(.milliseconds(500)) }
      await Task.yield()
    }
  }

  @Test func `a prefetch that waits for the network loses no image on a dead one`() async throws {
    let hosts = Hosts()
    let test = try TestLoader(downloader: hosts, time: time.time, tries: 4)
    let prefetch = test.loader.prefetch(try (0..<6).map { try item("h\($0)") }, waitsForNetwork: true)
    while prefetch.progress.waiting + prefetch.progress.failed < 6 {
      if time.sleepers > 0, try network(test) == .wifi { time.pass(.milliseconds(100)) }
      await Task.yield()
    }
    #expect(prefetch.progress.waiting == 6)
    hosts.isRepaired.store(true, ordering: .releasing)
    while prefetch.progress.fetched + prefetch.progress.failed < 6 {
      if time.sleepers > 0 { time.pass(.milliseconds(500)) }
      await Task.yield()
    }
    #expect(await prefetch.finish().fetched == 6)
  }
}

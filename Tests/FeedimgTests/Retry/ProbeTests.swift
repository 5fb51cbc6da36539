import FeedimgModel
import FeedimgSettings
import FeedimgSystem
import FeedimgTransfer
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Loads that wait while their server's circuit is half-open, with real layers.
@Suite(.timeLimit(.minutes(10))) struct ProbeTests {
  /// A server whose circuit became half-open a moment ago.
  private struct Scene {
    let time = ManualTime()
    let test: TestLoader
    let server: LoopbackServer
    /// Releases the head and the body of `/slow`.
    ///
    /// All other responses come at once.
    let head = Gate()
    let body = Gate()
    /// The loads that waited for a slot.
    let queued = Queued()

    init(_ network: NetworkKind = .wifi) async throws {
      let isWell = Atomic(false)
      let (head, body) = (head, body)
      let picture = SampleImage.jpeg
      server = try LoopbackServer { request in
        guard isWell.load(ordering: .acquiring) else { return .hangUp }
        let fields = [("Content-Type", "image/jpeg"), ("Content-Length", "\(picture.count)")]
        let start = Reply.head(200, fields) + picture.prefix(100)
        guard request.path == "/slow" else {
          return Reply([.send(start + picture.dropFirst(100))], keepsConnection: true)
        }
        return Reply([.wait(head), .send(start), .wait(body), .send(Array(picture.dropFirst(100)))])
      }
      test = try TestLoader(network, time: time.time, observers: [queued])
      try test.settings.set(.alwaysLoadOriginalsOnCellular, to: "yes")
      for number in 0..<5 {
        let load = self.load("/\(number)")
        await #expect(throws: LoadError.self) { try await load.value }
      }
      isWell.store(true, ordering: .releasing)
      time.pass(.seconds(2))
    }

    func load(
      _ path: String,
      _ priority: LoadPriority = .visible,
      progress: (@Sendable (LoadProgress) -> Void)? = nil
    ) -> Task<[UInt8], any Error> {
      Task { [test, server] in
        let item = try TestLoader.item(server, original: path)
        return try await test.loader.load(item, priority: priority, progress: progress).bytes
      }
    }

    /// The number of requests since the circuit opened.
    var asked: Int { server.log.requests.count - 5 }

    func begins(_ count: Int) async { await server.reaches { $0.requests.count == 5 + count } }
  }

  private final class Queued: LoadObserving {
    let paths = RecordedValues<String>()

    func observe(_ event: LoadEvent) {
      if event.step == .queued, let url = event.item.original?.url { paths.add(url.text) }
    }
  }

  @Test func `an image need not wait until the probing image is complete`() async throws {
    let scene = try await Scene()
    scene.head.open()
    let begun = RecordedValues<ByteCount>()
    let slow = scene.load("/slow", .prefetch) { begun.add($0.received) }
    while begun.all.isEmpty { await Task.yield() }
    #expect(try await scene.load("/fast").value == SampleImage.jpeg)
    scene.body.open()
    #expect(try await slow.value == SampleImage.jpeg)
  }

  @Test func `loads that wait for a server continue as soon as it begins to respond`() async throws {
    let scene = try await Scene()
    let slow = scene.load("/slow", .prefetch)
    await scene.begins(1)
    let waiting = (0..<3).map { scene.load("/fast\($0)") }
    while scene.time.sleepers < 3 { await Task.yield() }
    #expect(scene.asked == 1, "only one load probes")
    scene.head.open()
    for load in waiting { #expect(try await load.value == SampleImage.jpeg) }
    scene.body.open()
    #expect(try await slow.value == SampleImage.jpeg)
  }

  @Test func `a slow probe delays other loads at most as long as an open circuit`() async throws {
    let scene = try await Scene()
    let slow = scene.load("/slow")
    await scene.begins(1)
    let waiting = scene.load("/fast")
    await scene.time.pass(RetryController.maximumWait, when: 1)
    let error = await #expect(throws: LoadError.self) { try await waiting.value }
    #expect(error?.code == .connection)
    #expect(error?.message.hasPrefix("the host failed before and has not responded since: ") == true)
    #expect(scene.asked == 1)
    for gate in [scene.head, scene.body] { gate.open() }
    #expect(try await slow.value == SampleImage.jpeg)
    #expect(try await scene.load("/fast").value == SampleImage.jpeg)
  }

  @Test func `a prefetch that waits for its slot does not delay visible images of its server`() async throws {
    let scene = try await Scene(.cellular)
    let gate = Gate()
    let other = try LoopbackServer { _ in .held(by: gate, then: .response(404)) }
    let busy = Task { try await scene.test.loader.load(try TestLoader.item(other, original: "/busy")) }
    await other.reaches { $0.requests.count == 1 }
    // Nothing is prefetched beside a visible image on a link that may be slow.
    let prefetch = scene.load("/prefetched", .prefetch)
    let url = scene.server.url("/prefetched")
    while !scene.queued.paths.all.contains(url) { await Task.yield() }
    #expect(try await scene.load("/fast").value == SampleImage.jpeg)
    #expect(scene.asked == 1)
    gate.open()
    await #expect(throws: LoadError.self) { try await busy.value }
    #expect(try await prefetch.value == SampleImage.jpeg)
  }

  @Test @PipelineActor func `a failed probe ends, even if the circuit opened again while it ran`()
    async throws
  {
    let time = ManualTime()
    let retries = RetryController(time.time, schedule: RetrySchedule(maximumTries: 1))
    let url = try ImageURL("http://a.example/a.jpg")
    /// A load that sends its request at once, and fails after some time.
    func load(_ error: LoadError, after duration: Duration = .zero) -> Task<Void, Never> {
      PipelineActor.task {
        try? await retries.perform(url, key: error.message) { attempt async throws(LoadError) in
          try attempt.begin()
          if duration > .zero { try? await time.time.sleep(duration) }
          throw error
        }
      }
    }
    var busy = LoadError(.status, message: "busy", status: 503)
    busy.retryAfter = 10
    let earlier = load(busy, after: .seconds(3))
    while time.sleepers < 1 { await Task.yield() }
    for number in 0..<5 { await load(LoadError(.timeout, message: "\(number)")).value }
    time.pass(.seconds(2))
    let probe = load(LoadError(.timeout, message: "silent"), after: .seconds(2))
    await time.pass(.seconds(1), when: 2)
    await earlier.value
    time.pass(.seconds(1))
    await probe.value
    time.pass(.seconds(10))
    #expect(retries.silence(of: url) == nil, "the next load may probe")
  }

  @Test func `when a probe is cancelled, the next load probes at once`() async throws {
    let scene = try await Scene()
    let slow = scene.load("/slow")
    await scene.begins(1)
    let waiting = scene.load("/fast")
    while scene.time.sleepers < 1 { await Task.yield() }
    slow.cancel()
    #expect(try await waiting.value == SampleImage.jpeg)
    await #expect(throws: LoadError.self) { try await slow.value }
    while await !scene.test.loader.resources.transport.scheduler.isIdle { await Task.yield() }
  }
}

import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How often a server that refuses everything is asked, with real layers.
@Suite(.timeLimit(.minutes(10))) struct RefusingHostTests {
  /// A server that responds to each request with 503 when the test says so.
  private struct Scene {
    let time = ManualTime()
    let test: TestLoader
    let server: LoopbackServer
    let gates: [Gate]
    let failed = RecordedValues<LoadError>()

    init() throws {
      let gates = (0..<20).map { _ in Gate() }
      let asked = Atomic(0)
      server = try LoopbackServer { _ in
        let number = asked.wrappingAdd(1, ordering: .relaxed).oldValue
        return number < gates.count ? .held(by: gates[number], then: .response(503)) : .response(503)
      }
      self.gates = gates
      test = try TestLoader(.wifi, time: time.time, tries: 4)
    }

    func load(_ count: Int, _ name: String) throws -> [Task<Void, Never>] {
      try (0..<count).map { number in
        let item = try TestLoader.item(server, original: "/\(name)\(number)")
        return Task { [test, failed] in
          do throws(LoadError) {
            _ = try await test.loader.load(item)
          } catch {
            failed.add(error)
          }
        }
      }
    }

    /// Waits until this many loads have failed or sleep, so that no request runs.
    func settles(_ count: Int) async { while failed.all.count + time.sleepers < count { await Task.yield() } }
  }

  @Test func `of sixty images on a refusing server a few are requested, and the others fail soon`()
    async throws
  {
    let scene = try Scene()
    _ = try scene.load(60, "a")
    // The largest number at a time. Each failure lets the next request go out.
    for number in 0..<5 {
      await scene.server.reaches { $0.requests.count >= 4 + number }
      scene.gates[number].open()
      // It will retry later.
      await scene.settles(number + 1)
    }
    // The requests that ran by then get responses as well. The sixth may be among them.
    for gate in scene.gates { gate.open() }
    await scene.settles(60)
    #expect(scene.failed.all.isEmpty)
    #expect(scene.server.log.requests.count <= 9)
    var steps = 0
    while true {
      await scene.settles(60)
      guard scene.failed.all.count < 60 else { break }
      scene.time.pass(.seconds(2))
      steps += 1
    }
    let count = scene.server.log.requests.count
    #expect(count <= 9 + 2 * steps, "one load probes at any time")
    let others = try scene.load(60, "b")
    await scene.settles(120)
    #expect(
      scene.server.log.requests.count == count,
      "the circuit is open, and no load has waited for it yet"
    )
    for load in others { load.cancel() }
    for load in others { await load.value }
  }
}

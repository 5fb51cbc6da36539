import FeedimgModel
import FeedimgTransfer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The conclusions from one failure about the network and the server.
@Suite @PipelineActor struct LivenessMonitorTests {
  private let time = ManualTime()
  private let controller: RetryController
  private let monitor: LivenessMonitor

  nonisolated init() {
    controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 1))
    monitor = controller.liveness
  }

  private func attempt(_ url: String, asked: String, hasProgressed: Bool = false) throws -> Attempt {
    let attempt = Attempt(try ImageURL(url), controller)
    if asked != url { attempt.redirected(to: try ImageURL(asked)) }
    if hasProgressed { attempt.kept(1 << 20, of: nil) }
    return attempt
  }

  private func isDead(
    after error: LoadError,
    hasProgressed: Bool = false,
    _ path: (Int) -> (url: String, asked: String)
  ) throws -> Bool {
    controller.reset()
    for number in 0..<8 {
      let (url, asked) = path(number)
      monitor.failed(error, of: try attempt(url, asked: asked, hasProgressed: hasProgressed))
    }
    return monitor.isOffline
  }

  @Test func `redirects to a server that is down do not count against the network`() throws {
    let error = LoadError(.timeout, message: "no response came within 20 s")
    #expect(try !isDead(after: error) { ("http://h\($0).example/a", "http://down.example/a") })
    #expect(try isDead(after: error) { ("http://h\($0).example/a", "http://h\($0).example/a") })
  }

  @Test func `good parts of images show that the network works, even if the transfers are interrupted`()
    throws
  {
    let error = LoadError(.timeout, message: "no bytes came for 20 s")
    #expect(
      try !isDead(after: error, hasProgressed: true) {
        ("http://h\($0).example/a", "http://h\($0).example/a")
      }
    )
  }

  @Test func `if every server redirects to one login page, the network counts as dead`() throws {
    var page = LoadError(.notAnImage, message: "a page")
    #expect(try !isDead(after: page) { ("http://h\($0).example/a", "http://h\($0).example/") })
    page.suspectsCaptivePortal = true
    #expect(try isDead(after: page) { ("http://h\($0).example/a", "http://h\($0).example/") })
    #expect(try !isDead(after: page) { _ in ("http://h.example/a", "http://h.example/") })
  }

  @Test func `this machine says nothing about the network, in either direction`() throws {
    let silence = LoadError(.timeout, message: "no response came within 20 s")
    let missing = LoadError(.status, message: "not found", status: 404)
    #expect(try !isDead(after: silence) { ("http://127.0.0.\($0 + 1)/a", "http://127.0.0.\($0 + 1)/a") })
    controller.reset()
    for number in 0..<4 {
      monitor.failed(missing, of: try attempt("http://localhost/a", asked: "http://localhost/a"))
      let url = "http://h\(number).example/a"
      monitor.failed(silence, of: try attempt(url, asked: url))
      #expect(monitor.isOffline == (number == 3))
    }
  }

  @Test func `a refused connection says nothing about the network`() throws {
    var refused = LoadError(.connection, message: "no connection: connection refused")
    refused.retry.reason = .refused
    #expect(try !isDead(after: refused) { ("http://h\($0).example/a", "http://h\($0).example/a") })
  }

  /// Fails a load and returns its error.
  private func fail(_ url: ImageURL, _ error: LoadError) async -> LoadError? {
    do throws(LoadError) {
      try await controller.perform(url) { attempt async throws(LoadError) -> Void in
        try attempt.begin()
        throw error
      }
      return nil
    } catch {
      return error
    }
  }

  @Test func `a resource shortage of this program says nothing about a server, in either direction`()
    async throws
  {
    let url = try ImageURL("http://h.example/a")
    let silence = LoadError(.connection, message: "no connection")
    let shortage = LoadError(.unavailable, message: "too many open files: raise the limit")
    for number in 1...CircuitBreaker.threshold {
      let circuit = await fail(url, shortage)?.retry.circuit
      #expect(circuit == .closed, "\(number - 1) have failed")
      #expect(
        await fail(url, silence)?.retry.circuit
          == (number < CircuitBreaker.threshold ? .closed : .opened)
      )
    }
    #expect(controller.silence(of: url)?.message.contains("no connection") == true)
  }

  @Test func `a resource shortage of this program keeps the received bytes of an image`() {
    #expect(LoadError(.unavailable, message: "too many open files: raise the limit").isInterruption)
  }

  @Test func `a probe that fails for a resource shortage lets the next load probe`() async throws {
    let url = try ImageURL("http://h.example/a")
    _ = await fail(url, LoadError(.status, message: "busy", status: 503, retryAfter: 5))
    controller.forget(url.key)
    time.pass(.seconds(5))
    _ = await fail(url, LoadError(.unavailable, message: "too many open files: raise the limit"))
    #expect(controller.admit(url.origin, allowingProbe: false) == true, "it is the probe")
  }
}

import FeedimgModel
import FeedimgTransfer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// A lack of local resources, which says nothing about servers.
@Suite @PipelineActor struct ShortageTests {
  private let time = ManualTime()
  private let controller: RetryController
  private let shortage = LoadError(.unavailable, message: "too many open files: raise the limit")

  nonisolated init() { controller = RetryController(time.time, schedule: RetrySchedule(maximumTries: 1)) }

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
    for number in 1...CircuitBreaker.threshold {
      let circuit = await fail(url, shortage)?.servers.first?.circuit
      #expect(circuit == .closed, "\(number - 1) have failed")
      #expect(
        await fail(url, silence)?.servers.first?.circuit
          == (number < CircuitBreaker.threshold ? .closed : .open)
      )
    }
    #expect(controller.silence(of: url)?.message.contains("no connection") == true)
  }

  @Test func `a resource shortage of this program keeps the received bytes of an image`() {
    #expect(shortage.isInterruption)
  }

  @Test func `a probe that fails for a resource shortage lets the next load probe`() async throws {
    let url = try ImageURL("http://h.example/a")
    _ = await fail(url, LoadError(.status, message: "busy", status: 503, retryAfter: 5))
    controller.forget(url.key)
    time.pass(.seconds(5))
    _ = await fail(url, shortage)
    #expect(controller.admit(url.origin) == true, "it is the probe")
  }
}

import FeedimgModel
import Testing

@testable import FeedimgTransfer

struct TimeoutsTests {
  private let start = SuspendingClock.now

  private func timeouts(stall: Duration = .seconds(5), total: Duration? = nil) throws -> Timeouts {
    let request = DownloadRequest(
      url: try ImageURL("http://a/"),
      responseTimeout: .seconds(20),
      stallTimeout: stall,
      totalTimeout: total
    )
    return Timeouts(request, from: start)
  }

  private func after(_ seconds: Double) -> SuspendingClock.Instant {
    start.advanced(by: .milliseconds(Int64(seconds * 1000)))
  }

  @Test func `while connecting only the total limit applies`() throws {
    let timeouts = try timeouts()
    #expect(timeouts.next == nil)
    #expect(timeouts.exceeded(at: after(1000)) == nil)
  }

  @Test func `a response is awaited after the request is sent`() throws {
    var timeouts = try timeouts()
    timeouts.requestSent(at: after(3))
    #expect(timeouts.next?.end == after(23))
    #expect(timeouts.exceeded(at: after(22.9)) == nil)
    #expect(timeouts.exceeded(at: after(23)) == .response(.seconds(20)))
  }

  @Test func `each byte restarts the wait for the next one`() throws {
    var timeouts = try timeouts()
    timeouts.requestSent(at: after(0))
    timeouts.arrived(at: after(19))
    #expect(timeouts.next?.end == after(24))
    timeouts.arrived(at: after(23))
    #expect(timeouts.exceeded(at: after(24)) == nil)
    #expect(timeouts.exceeded(at: after(28)) == .stall(.seconds(5)))
  }

  @Test func `a redirect connects again`() throws {
    var timeouts = try timeouts()
    timeouts.arrived(at: after(1))
    timeouts.connectionBegan()
    #expect(timeouts.next == nil)
  }

  @Test func `the total time is limited whatever arrives`() throws {
    var timeouts = try timeouts(total: .seconds(60))
    #expect(timeouts.next?.end == after(60))
    timeouts.arrived(at: after(10))
    #expect(timeouts.next?.end == after(15))
    timeouts.arrived(at: after(58))
    #expect(timeouts.next?.end == after(60))
    #expect(timeouts.exceeded(at: after(60)) == .total(.seconds(60)))
  }

  @Test func `no limit is too long or too short to be kept`() throws {
    for timeout in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
      let request = DownloadRequest(
        url: try ImageURL("http://a/"),
        responseTimeout: timeout,
        stallTimeout: timeout,
        totalTimeout: timeout
      )
      var timeouts = Timeouts(request, from: start)
      timeouts.requestSent(at: start)
      timeouts.arrived(at: start)
      #expect((timeouts.exceeded(at: after(1)) == nil) == (timeout > .zero))
    }
  }

  @Test(arguments: [
    (Duration.seconds(10), "10 s", Int64(10_000)), (.milliseconds(250), "250 ms", 250),
    (.milliseconds(1500), "1500 ms", 1500), (.microseconds(1), "1 ms", 1), (.zero, "0 s", 0),
    (.seconds(Int64.max), "9223372036854775807 s", .max),
    (.seconds(Int64.min), "-9223372036854775808 s", .min),
  ])
  func `times are written in words and rounded up`(time: Duration, words: String, milliseconds: Int64) {
    #expect(time.words == words)
    #expect(time.milliseconds == milliseconds)
  }
}

import FeedimgModel
import Testing

@testable import FeedimgTransfer

struct PatienceTests {
  private let start = Moment.now

  private func patience(total: Duration? = nil) throws -> Patience {
    let request = DownloadRequest(
      url: try ImageURL("http://a/"),
      answerTimeout: .seconds(20),
      stallTimeout: .seconds(5),
      totalTimeout: total
    )
    return Patience(request, from: start)
  }

  private func after(_ seconds: Double) -> Moment {
    start.advanced(byNanoseconds: Int64(seconds * 1_000_000_000))
  }

  @Test func `while connecting only the whole counts`() throws {
    let patience = try patience()
    #expect(patience.deadline == nil)
    #expect(patience.exceeded(at: after(1000)) == nil)
  }

  @Test func `an answer is awaited from the request on`() throws {
    var patience = try patience()
    patience.requestSent(at: after(3))
    #expect(patience.deadline == after(23))
    #expect(patience.exceeded(at: after(22.9)) == nil)
    #expect(patience.exceeded(at: after(23)) == .answer(.seconds(20)))
  }

  @Test func `each byte renews the time to the next`() throws {
    var patience = try patience()
    patience.requestSent(at: after(0))
    patience.bytesArrived(at: after(19))
    #expect(patience.deadline == after(24))
    patience.bytesArrived(at: after(23))
    #expect(patience.exceeded(at: after(24)) == nil)
    #expect(patience.exceeded(at: after(28)) == .stall(.seconds(5)))
  }

  @Test func `no limit runs out before the earliest deadline, whatever happens until then`() throws {
    var patience = try patience(total: .seconds(60))
    #expect(patience.earliestDeadline(at: after(0)) == after(5))
    patience.requestSent(at: after(0))
    #expect(patience.earliestDeadline(at: after(2)) == after(7))
    #expect(patience.earliestDeadline(at: after(18)) == after(20))
    patience.bytesArrived(at: after(19))
    #expect(patience.earliestDeadline(at: after(20)) == after(24))
    patience.bytesArrived(at: after(58))
    #expect(patience.earliestDeadline(at: after(58)) == after(60))
  }

  @Test func `a redirect connects anew`() throws {
    var patience = try patience()
    patience.bytesArrived(at: after(1))
    patience.connectionBegan()
    #expect(patience.deadline == nil)
  }

  @Test func `the whole is limited whatever arrives`() throws {
    var patience = try patience(total: .seconds(60))
    #expect(patience.deadline == after(60))
    patience.bytesArrived(at: after(10))
    #expect(patience.deadline == after(15))
    patience.bytesArrived(at: after(58))
    #expect(patience.deadline == after(60))
    #expect(patience.exceeded(at: after(60)) == .total(.seconds(60)))
  }

  @Test func `no limit is too long or too short to be kept`() throws {
    for timeout in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
      let request = DownloadRequest(
        url: try ImageURL("http://a/"),
        answerTimeout: timeout,
        stallTimeout: timeout,
        totalTimeout: timeout
      )
      var patience = Patience(request, from: start)
      patience.requestSent(at: start)
      patience.bytesArrived(at: start)
      #expect((patience.exceeded(at: after(1)) == nil) == (timeout > .zero))
    }
  }

  @Test(arguments: [
    (Duration.seconds(10), "10 s", Int64(10_000)), (.milliseconds(250), "250 ms", 250),
    (.milliseconds(1500), "1500 ms", 1500), (.microseconds(1), "1 ms", 1), (.zero, "0 s", 0),
    (.seconds(Int64.max), "9223372036854775807 s", .max),
    (.seconds(Int64.min), "-9223372036854775808 s", .min),
  ])
  func `times are told in words and rounded up`(time: Duration, words: String, milliseconds: Int64) {
    #expect(time.words == words)
    #expect(time.milliseconds == milliseconds)
  }
}

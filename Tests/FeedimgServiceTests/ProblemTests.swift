import FeedimgJSON
import FeedimgModel
import Testing

@testable import FeedimgService

/// How failed loads are reported to clients.
@Suite struct ProblemTests {
  @Test(arguments: [(true, true as JSONValue?), (false, nil)])
  func `a problem document says whether the server's circuit is open`(isOpen: Bool, told: JSONValue?) {
    var error = LoadError(.status, message: "the server responded with 503", status: 503)
    error.servers = [.init(origin: "http://a.example", circuit: isOpen ? .open : .closed, fault: .response)]
    #expect(error.problem.members["originCircuitOpen"] == told)
  }
}

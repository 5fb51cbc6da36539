import FeedimgJSON
import FeedimgModel
import Testing

@testable import FeedimgService

/// What clients are told of loads that failed.
@Suite struct ProblemTests {
  @Test(arguments: [(true, true as JSONValue?), (false, nil)])
  func `whether a server is left alone is said of it`(isLeftAlone: Bool, told: JSONValue?) {
    var error = LoadError(.status, message: "the server answered 503", status: 503)
    error.hasOpenCircuit = isLeftAlone
    #expect(error.problem.members["originLeftAlone"] == told)
  }
}

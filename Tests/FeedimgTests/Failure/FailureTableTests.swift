import FeedimgModel
import Testing

@testable import Feedimg

/// What one failure says of the network.
@Suite struct FailureTableTests {
  private func dead(
    after error: LoadError,
    hasProgressed: Bool = false,
    _ path: (Int) -> (url: String, asked: String)
  ) throws -> Bool {
    var table = FailureTable()
    for number in 0..<8 {
      let (url, asked) = path(number)
      _ = table.judgeNetwork(
        try ImageURL(url),
        error,
        asked: try ImageURL(asked),
        hasProgressed: hasProgressed,
        at: .zero
      )
    }
    return table.connectivity.isDead
  }

  @Test func `where servers redirect to one that is down the network is well`() throws {
    let error = LoadError(.timeout, message: "no answer came within 20 s")
    #expect(try !dead(after: error) { ("http://h\($0).example/a", "http://down.example/a") })
    #expect(try dead(after: error) { ("http://h\($0).example/a", "http://h\($0).example/b") })
  }

  @Test func `where good parts of images come the network is well, however they end`() throws {
    let error = LoadError(.timeout, message: "nothing came for 20 s")
    #expect(
      try !dead(after: error, hasProgressed: true) { ("http://h\($0).example/a", "http://h\($0).example/a") }
    )
  }

  @Test func `where every server seems to redirect to one login nothing gets through`() throws {
    var page = LoadError(.notAnImage, message: "a page")
    #expect(try !dead(after: page) { ("http://h\($0).example/a", "http://login.example/") })
    page.suspectsCaptivePortal = true
    #expect(try dead(after: page) { ("http://h\($0).example/a", "http://login.example/") })
    #expect(try !dead(after: page) { _ in ("http://h.example/a", "http://login.example/") })
  }
}

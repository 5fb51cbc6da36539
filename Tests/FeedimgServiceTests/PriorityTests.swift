import FeedimgJSON
import LoopbackServer
import Testing

/// `Priority` (RFC 9218), through the service.
@Suite(.timeLimit(.minutes(10))) struct PriorityTests {
  private let gate = Gate()

  @Test func `what is urgent overtakes what was asked for before`() throws {
    let origin = try LoopbackServer { [gate] request in
      let image = Reply.head(200, [("Content-Length", String(SampleImage.jpeg.count))]) + SampleImage.jpeg
      return Reply((request.path == "/first" ? [.wait(gate)] : []) + [.send(image)])
    }
    let service = try ServiceRun(["--network=wifi"])
    let events = try service.request(["/v1/events"])
    func ask(_ path: String, _ count: Int, urgency: Int) throws -> [CurlRun] {
      try (0..<count).map { number in
        let item = JSONObject([("originalImage", .string(origin.url("\(path)?\(number)")))])
        let arguments = ["--json", JSONValue.object(item).text(.compact), "-H", "Priority: u=\(urgency)"]
        return try service.request(["/v1/image"] + arguments)
      }
    }
    // All places are taken: before anything is measured there are eight at most.
    var runs = try ask("/first", 8, urgency: 0)
    waitForTransfers(8, in: events)
    runs += try ask("/idle", 10, urgency: 7)
    waitForTransfers(18, in: events)
    runs += try ask("/urgent", 10, urgency: 0)
    waitForTransfers(28, in: events)
    gate.open()
    for run in runs { #expect(try Answer(of: run).status == 200) }
    // While the first idle one runs, at most seven urgent ones do: all others have gone before it.
    let order = origin.log.requests.map(\.path).filter { $0 != "/first" }
    #expect(order.prefix(3) == ["/urgent", "/urgent", "/urgent"])
    #expect(order.count == 20)
  }

  /// Reads on until so many transfers run or wait.
  private func waitForTransfers(_ count: Int, in events: CurlRun) {
    while let block = events.block() {
      if block.contains("event: progress\n"), block.contains("{\"count\":\(count),") { return }
    }
    Issue.record("the events have ended")
  }
}

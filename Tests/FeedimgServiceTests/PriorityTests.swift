import FeedimgJSON
import FeedimgSystem
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// `Priority` (RFC 9218), through the service.
@Suite(.timeLimit(.minutes(10))) struct PriorityTests {
  private let gate = Gate()

  /// An origin that holds `/first` back.
  private func origin() throws -> LoopbackServer {
    try LoopbackServer { [gate] request in
      let head = [("Content-Length", String(SampleImage.jpeg.count)), ("Content-Type", "image/jpeg")]
      let image = Reply.head(200, head) + SampleImage.jpeg
      return Reply((request.path == "/first" ? [.wait(gate)] : []) + [.send(image)])
    }
  }

  /// Requests images, each with a URL of its own.
  private func ask(
    _ service: ServiceRun,
    _ url: String,
    _ count: Int,
    _ fields: String...
  ) throws -> [CurlRun] {
    try (0..<count).map { number in
      let item = JSONObject([("originalImage", .string("\(url)?\(number)"))])
      let arguments = ["--json", JSONValue.object(item).text(.compact)] + fields.flatMap { ["-H", $0] }
      return try service.request(["/v1/image"] + arguments)
    }
  }

  @Test func `urgent requests overtake earlier ones`() throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let events = try service.request(["/v1/events"])
    // All slots are taken. Before any measurement there are at most eight.
    var runs = try ask(service, origin.url("/first"), 8, "Priority: u=0")
    waitForTransfers(8, in: events)
    runs += try ask(service, origin.url("/idle"), 10, "Priority: u=7")
    waitForTransfers(18, in: events)
    runs += try ask(service, origin.url("/urgent"), 10, "Priority: u=0")
    waitForTransfers(28, in: events)
    gate.open()
    for run in runs { #expect(try CurlResponse(of: run).status == 200) }
    // While the first background request runs, at most seven urgent ones run. All others came before it.
    let order = origin.log.requests.map(\.path).filter { $0 != "/first" }
    #expect(order.prefix(3) == ["/urgent", "/urgent", "/urgent"])
    #expect(order.count == 20)
  }

  @Test func `a program raises a priority and gets the image once`() async throws {
    // While this waits for events, the program needs the threads that tests share.
    let thread = ThreadExecutor("test")
    defer { thread.stop() }
    try await withTaskExecutorPreference(thread) { try await raisePriority() }
  }

  private func raisePriority() async throws {
    let origin = try origin()
    let service = try ServiceRun(["--network=wifi"])
    let events = try service.request(["/v1/events"])
    let runs = try ask(service, origin.url("/first"), 8, "Priority: u=0")
    waitForTransfers(8, in: events)
    let idle = try ask(service, origin.url("/idle"), 20, "Priority: u=7")
    waitForTransfers(28, in: events)

    var configuration = ImageLoader.Configuration(environment: ServiceRun.variables(service.root))
    configuration.service = service.socket
    configuration.overrides = [SituationOverride(fact: "network", value: "wifi", source: "test")]
    let slot = try ImageLoader(configuration).slot()
    let url = try ImageURL(origin.url("/wanted"))
    let wanted = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    slot.show(wanted, priority: .prefetch)
    waitForTransfers(29, in: events)
    slot.priority = .visible
    let told = #"feedimg_requests_total{route="/v1/priority",status="204"} 1"#
    while try !service.curl("/metrics").text.contains(told) { await Task.yield() }
    gate.open()
    for run in runs + idle { #expect(try CurlResponse(of: run).status == 200) }
    for await presentation in slot.presentations where presentation.image != nil { break }
    // Eight at a time.
    #expect(origin.log.requests.map(\.path).filter { $0 != "/first" }.prefix(8).contains("/wanted"))
    let metrics = try service.curl("/metrics").text
    #expect(metrics.contains(#"feedimg_requests_total{route="/v1/image",status="200"} 29"#))
    #expect(metrics.contains(#"feedimg_images_total{image="original",source="network"} 29"#))
  }

  /// Reads until this many transfers run or wait.
  private func waitForTransfers(_ count: Int, in events: CurlRun) {
    while let block = events.block() {
      if block.contains("event: progress\n"), block.contains("{\"count\":\(count),") { return }
    }
    Issue.record("the events have ended before there were \(count) transfers")
  }
}

import FeedimgJSON
import FoundationEssentials
import Testing

/// `/v1/events`, read by curl.
@Suite(.timeLimit(.minutes(10))) struct EventsRouteTests {
  private struct Event {
    var fields: [String: String] = [:]

    init(_ block: String) {
      for line in block.split(separator: "\n") {
        let sides = line.split(separator: ":", maxSplits: 1)
        fields[String(sides[0])] = String(sides.count > 1 ? sides[1].drop { $0 == " " } : "")
      }
    }
  }

  /// Reads until an event of this kind has matching data.
  private func next(
    _ kind: String,
    in run: CurlRun,
    where isWanted: (String) -> Bool = { _ in true }
  ) -> Event? {
    while let block = run.block() {
      let event = Event(block)
      if event.fields["event"] == kind, isWanted(event.fields["data"] ?? "") { return event }
    }
    return nil
  }

  @Test func `network, settings, policy and transfers are sent at once, and then their changes`() throws {
    let service = try ServiceRun()
    let events = try service.request(["/v1/events"])
    let head = events.block() ?? ""
    #expect(head.hasPrefix("HTTP/1.1 200 "))
    #expect(head.contains("text/event-stream"))
    var kinds: Set<String> = []
    while kinds.count < 4, let block = events.block() {
      if let kind = Event(block).fields["event"] { kinds.insert(kind) }
    }
    #expect(kinds == ["network", "settings", "policy", "progress"])
    _ = try service.curl("/v1/settings", "-X", "PATCH", "--json", #"{"cache-expiry-days":9}"#)
    let changed = next("settings", in: events) { $0.contains("\"cache-expiry-days\":9") }
    #expect(changed != nil)

    try FileManager.default.createDirectory(
      atPath: "\(service.root)/config/feedimg/policies",
      withIntermediateDirectories: true
    )
    let file = URL(filePath: "\(service.root)/config/feedimg/policies/default.md")
    // Both tables have the same number of rules and states.
    for image in ["thumbnail", "original"] {
      let table = "# mine\n\n| network | → image |\n|---|---|\n| offline | placeholder |\n| - | \(image) |\n"
      try Data(table.utf8).write(to: file)
      let rule = #"{"when":{},"image":"\#(image)""#
      let event = next("policy", in: events) { $0.contains(rule) && $0.contains("placeholder") }
      #expect(try service.curl("/v1/policy").text == "\(event?.fields["data"] ?? "")\n")
    }
  }

  @Test func `a network event has the simulated facts`() throws {
    let service = try ServiceRun(["--network=cellular"])
    let event = next("network", in: try service.request(["/v1/events"]))
    let simulated = #""simulated":{"network":"cellular"}"#
    #expect(event?.fields["data"]?.contains(simulated) == true)
    #expect(try service.curl("/v1/network").text.contains(simulated))
  }

  @Test func `a returning reader receives missed events and none twice`() throws {
    let service = try ServiceRun()
    let first = try service.request(["/v1/events"])
    var last = ""
    var kinds: Set<String> = []
    while kinds.count < 4, let block = first.block() {
      let event = Event(block)
      if let kind = event.fields["event"] { kinds.insert(kind) }
      last = event.fields["id"] ?? last
    }
    first.hangUp()
    for days in 8...9 {
      _ = try service.curl("/v1/settings", "-X", "PATCH", "--json", #"{"cache-expiry-days":\#(days)}"#)
    }
    let second = try service.request(["/v1/events", "-H", "Last-Event-ID: \(last)"])
    _ = (second.block(), second.block())
    let event = Event(second.block() ?? "")
    #expect(event.fields["event"] == "settings")
    #expect(event.fields["id"] != last)
  }

  @Test func `the count of readers falls when they leave`() throws {
    let service = try ServiceRun()
    let readers = try (0..<3).map { _ in try service.request(["/v1/events"]) }
    for reader in readers { _ = reader.block() }
    #expect(try service.curl("/metrics").text.contains("feedimg_event_readers 3\n"))
    for reader in readers { reader.hangUp() }
    while try !service.curl("/metrics").text.contains("feedimg_event_readers 0\n") {}
  }
}

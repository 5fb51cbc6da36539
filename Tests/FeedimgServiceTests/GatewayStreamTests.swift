import LoopbackServer
import Testing

@testable import FeedimgService

/// Events of the Mastodon API, and responses that are no documents.
@Suite(.timeLimit(.minutes(10))) struct GatewayStreamTests {
  private static let status =
    #"{ "id":"1",  "account":{"acct":"a","avatar":"https://x.example/a.png"},"x":"\u00e4\/" }"#

  @Test func `an event is changed and sent before the next one comes`() throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      let events = ["event: update\ndata: \(Self.status)\n\n", ":thump\n\nevent: delete\ndata: 12\n\n"]
      let head = Reply.head(200, [("Content-Type", "text/event-stream"), ("Connection", "close")])
      return Reply([.send(head + Array(events[0].utf8)), .wait(gate), .send(Array(events[1].utf8))])
    }
    let gateway = try GatewayRun("mastodon=\(server.url(""))")
    let run = try gateway.run("/api/v1/streaming?stream=user")
    #expect(run.block()?.contains("text/event-stream") == true)
    let first = try #require(run.block())
    #expect(
      first.hasPrefix(
        "event: update\ndata: { \"id\":\"1\",  \"account\":{\"acct\":\"a\",\"avatar\":\"\(gateway.base)/g/s/"
      )
    )
    #expect(first.hasSuffix(#".png"},"x":"\u00e4\/" }"# + "\n"))
    gate.open()
    #expect(run.block() == ":thump\n")
    #expect(run.block() == "event: delete\ndata: 12\n")
    #expect(run.rest().isEmpty)
  }

  static let pieces: [(bytes: [String], lines: [String], rest: String, reason: String)] = [
    (["data: a\n"], ["data: A\n"], "", "the data"),
    (["data:a\r\n\r\n"], ["data:A\r\n\r\n"], "", "without a space, and another line break"),
    (["da", "ta: ", "b", "c\nx"], ["", "", "", "data: BC\n"], "x", "a line in pieces"),
    (["event: a\nid: b\n: c\n"], ["event: a\nid: b\n: c\n"], "", "other fields and comments"),
    (["data: 1\ndata: d\n"], ["data: 1\ndata: D\n"], "", "data that is kept"),
    (["data: a"], [""], "data: a", "an event that the end cuts"),
  ]

  @Test(arguments: pieces)
  func `lines of data change, and others stay`(
    _ pieces: [String],
    _ expected: [String],
    _ rest: String,
    _ reason: String
  ) {
    var lines = EventLines { $0 == [0x31] ? nil : $0.map { $0 & 0xDF } }
    let found = pieces.map { String(decoding: lines.take(Array($0.utf8)[...]), as: UTF8.self) }
    #expect(found == expected, "\(reason)")
    #expect(String(decoding: lines.end(), as: UTF8.self) == rest, "\(reason)")
  }

  @Test func `a line that is too long passes as it comes`() {
    var lines = EventLines { _ in [] }
    let part = [UInt8](repeating: 0x61, count: 5 << 20)
    #expect(lines.take(Array("data:".utf8) + part[...]).isEmpty)
    #expect(lines.take(part[...]).count == 2 * part.count + 5)
    #expect(lines.take(Array("b\ndata: c\n".utf8)[...]) == Array("b\ndata: ".utf8) + [0x0A])
  }

  @Test(arguments: [
    (#"{"streaming_api":"wss://m.example"}"#, #"{"streaming_api":"ws://g"}"#, "of /api/v1/instance"),
    (#"{"streaming":"wss://m.example"}"#, #"{"streaming":"ws://g"}"#, "of /api/v2/instance"),
    (#"{"streaming":"wss://s.m.example"}"#, nil, "the gateway does not forward to another host"),
  ])
  func `the address of the WebSockets leads through the gateway`(
    _ old: String,
    _ new: String?,
    _ reason: String
  ) {
    let document = MastodonDocument(streaming: ("wss://m.example", "ws://g")) { _ in nil }
    let changed = document.rewritten(Array(old.utf8)).map { String(decoding: $0, as: UTF8.self) }
    #expect(changed == new, "\(reason)")
  }

  @Test func `documents keep their white space, numbers and escapes`() throws {
    let document = Array("\n\(Self.status)\n".utf8)
    let changed = MastodonDocument { _ in "NEW" }.rewritten(document)
    let expected = Self.status.replacing("https://x.example/a.png", with: "NEW")
    #expect(changed.map { String(decoding: $0, as: UTF8.self) } == "\n\(expected)\n")
  }

  @Test func `compressed, redirected and very long responses are what the server says`() throws {
    let json = ("Content-Type", "application/json")
    let long = Array("\"\(String(repeating: "x", count: 100 << 20))\"".utf8)
    let server = try LoopbackServer { request in
      switch request.path {
      case "/gzip":
        .response(200, [json, ("Content-Encoding", "gzip")], body: Gzip.stored(Array(Self.status.utf8)))
      case "/br":
        .response(200, [json, ("Content-Encoding", "br")], body: Brotli.stored(Array(Self.status.utf8)))
      case "/away": .redirect(to: "https://other.example/a", 307)
      case "/short":
        .raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n\(Self.status)")
      case "/long": .response(200, [json], body: long)
      case "/long-cut": .truncated(long, after: 9 << 20, [json])
      default: .hangUp
      }
    }
    let gateway = try GatewayRun("mastodon=\(server.url(""))")
    for path in ["/gzip", "/br"] {
      let response = try gateway.ask(path)
      #expect(response["Content-Encoding"] == nil && response.text.contains("/g/s/"), "\(path)")
    }
    let away = try gateway.ask("/away")
    #expect((away.status, away["Location"]) == (307, "https://other.example/a"))
    #expect(try gateway.ask("/short").text == Self.status.prefix(20))
    let response = try gateway.ask("/long")
    #expect(response["Content-Length"] == String(long.count) && response.body.count == long.count)
    let cut = try gateway.ask("/long-cut")
    #expect(cut["Content-Length"] == String(long.count) && cut.body.count < long.count)
    #expect(try gateway.ask("/gone").status == 502)
  }
}

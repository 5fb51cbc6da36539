import FeedimgJSON
import LoopbackServer
import Testing

/// The command line itself: sources of items, misspelled commands, values, help and terminals.
@Suite struct ArgumentTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func item(_ name: String) throws -> String {
    try folder.write(
      "\(name).json",
      "{\"id\": \"\(name)\", \"originalImage\": \"https://x.example/\(name)\"}"
    )
  }

  @Test func `items come from several files and URLs after options, and none is dropped`() throws {
    let (a, b, c) = (try item("a"), try item("b"), try item("c"))
    let url = "https://x.example/d.jpg"
    let run = try CommandRun(
      ["resolve", "--json", "--network", "wifi", c, url, "--item", a, "--item", b],
      in: folder
    )
    #expect(run.status == 0, "\(run.errors)")
    #expect(try run.objects.map { $0["id"]?.text } == ["a", "b", "c", nil])
    #expect(try run.objects.last?["url"]?.text == url)
  }

  @Test func `load and prefetch take a URL and refuse invalid ones`() throws {
    let server = try LoadTests.makeServer()
    for verb in ["load", "prefetch"] {
      let run = try CommandRun([verb, server.url("/original.jpg"), "--network", "wifi"], in: folder)
      #expect(run.status == 0, "\(verb): \(run.errors)")
      let wrong = try CommandRun([verb, "ftp://x.example/a"], in: folder)
      #expect(wrong.status == 2)
      #expect(wrong.errors.contains("`ftp://x.example/a` has the scheme `ftp`"), "\(wrong.errors)")
      let none = try CommandRun([verb], in: folder)
      #expect(none.status == 2)
      #expect(none.errors.contains("expected items: a JSON file, the URL of an image"), "\(none.errors)")
    }
    let twice = try CommandRun(["load", "-", "-"], in: folder)
    #expect(twice.status == 2 && twice.errors.contains("only once"), "\(twice.errors)")
  }

  @Test(arguments: [
    (["resolv"], "unknown command `resolv`; did you mean `resolve`?"),
    (["cache", "lst"], "unknown command `lst`; did you mean `list`?"),
    (["help", "cach"], "unknown command `cach`; did you mean `cache`?"),
    (["network", "mrks"], "unknown command `mrks`; did you mean `marks`?"),
    (["xyzzy"], "unknown command `xyzzy`; expected resolve, load,"),
  ])
  func `an unknown command is named, with the nearest known one`(
    arguments: [String],
    says: String
  ) throws {
    let run = try CommandRun(arguments, in: folder)
    #expect(run.status == 2)
    #expect(run.errors.hasPrefix("feedimg: \(says)"), "\(run.errors)")
  }

  @Test(arguments: [
    (["settings", "set", "cache-expiry-days", "-1"], "`-1`"), (["cache", "list", "--limit", "-1"], "`-1`"),
    (["usage", "--days", "-1"], "-1"), (["resolve", "item.json", "--network", "-1"], "`-1`"),
    (["load", "item.json", "--timeout", "-1"], "-1"),
    (["settings", "set", "data-saver", "yes", "no"], "expected one value, found `yes` and `no`"),
  ])
  func `a value that begins with a hyphen is a value`(arguments: [String], says: String) throws {
    try folder.write("item.json", ResolveTests.item)
    let run = try CommandRun(arguments, in: folder)
    #expect(run.status == 2)
    #expect(run.errors.contains(says), "\(run.errors)")
    #expect(!run.errors.contains("Unknown option") && !run.errors.contains("Missing"), "\(run.errors)")
  }

  @Test(arguments: [40, 80])
  func `help wraps sentences, but never examples`(width: Int) throws {
    for verb in ["", "resolve", "load", "prefetch", "serve", "policy", "cache"] {
      let environment = ["COLUMNS": "\(width)"]
      let run = try CommandRun(["help"] + (verb.isEmpty ? [] : [verb]), in: folder, environment: environment)
      let wide = try CommandRun(
        ["help"] + (verb.isEmpty ? [] : [verb]),
        in: folder,
        environment: ["COLUMNS": "1000"]
      )
      let lines = Set(run.output.split(separator: "\n"))
      let examples = wide.output.split(separator: "\n").filter { $0.hasPrefix("  feedimg ") }
      for example in examples { #expect(lines.contains(example), "\(verb): \(example)") }
      for line in lines where !line.hasPrefix(" ") && !line.hasPrefix("USAGE") {
        #expect(line.count <= width, "\(verb): \(line)")
      }
    }
  }

  @Test func `times in JSON follow RFC 3339`() throws {
    let server = try LoadTests.makeServer()
    _ = try CommandRun(["load", server.url("/original.jpg"), "--network", "wifi"], in: folder)
    let time = #/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/#
    let url = server.url("/original.jpg")
    for arguments in [["cache", "list", "--json"], ["cache", "show", url, "--json"]] {
      let object = try #require(try CommandRun(arguments, in: folder).objects.first)
      for name in ["storedAt", "usedAt"] {
        #expect(object[name]?.text?.wholeMatch(of: time) != nil, "\(arguments): \(object)")
      }
    }
    let info = try #require(try CommandRun(["cache", "info", "--json"], in: folder).objects.first)
    #expect(info["newestUse"]?.text?.wholeMatch(of: time) != nil, "\(info)")
  }

  @Test(.enabled(if: TerminalRun.isAvailable, "needs script of util-linux"), arguments: [true, false])
  func `binary data is written to a terminal only if forced`(isForced: Bool) throws {
    let server = try LoadTests.makeServer()
    let url = server.url("/original.jpg")
    let option = isForced ? "--force" : ""
    let run = try TerminalRun("load \(url) --network wifi -o - \(option)", in: folder)
    let refusal = try run.text(upTo: #/binary data can garble a terminal; redirect standard output/#)
    #expect((refusal == nil) == isForced)
    #expect(server.log.requests.isEmpty != isForced)
  }

  @Test func `a load of a silent host ends at the timeout, and the other items are loaded`() throws {
    let gate = Gate()
    let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    let server = try LoopbackServer { request in
      request.path == "/silent" ? .held(by: gate, then: picture) : picture
    }
    defer { gate.open() }
    let arguments = ["load", server.url("/silent"), server.url("/good"), "--network", "wifi"]
    let run = try CommandRun(arguments + ["--json", "--timeout", "1.5"], in: folder)
    #expect(run.status == 1)
    #expect(run.errors == "feedimg: `\(server.url("/silent"))`: not loaded within 1.5 s (--timeout)\n")
    let objects = try run.objects
    #expect(objects.count == 2)
    guard case .object(let error)? = objects.first?["error"] else {
      Issue.record("no error in \(run.output)")
      return
    }
    #expect(error["code"] == "timeout")
    #expect(objects.last?["source"] == "network")
  }

  @Test(.enabled(if: TerminalRun.isAvailable, "needs script of util-linux"))
  func `a terminal shows which host a load waits for`() throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      .held(by: gate, then: .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg))
    }
    let run = try TerminalRun("load \(server.url("/silent")) --network wifi", in: folder)
    #expect(try run.text(upTo: #/Waiting for 127\.0\.0\.1, [12] s/#) != nil)
    gate.open()
    #expect(try run.text(upTo: #/original, from the network/#) != nil)
  }
}

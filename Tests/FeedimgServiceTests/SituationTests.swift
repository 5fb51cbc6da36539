import FeedimgJSON
import FoundationEssentials
import LoopbackServer
import Testing

/// The facts that one request may override, with curl over the Unix socket.
@Suite(.timeLimit(.minutes(10))) struct SituationTests {
  private static let item =
    #"{"id":"1","originalImage":"http://x.example/a.jpg","thumbnailImage":"http://x.example/b.jpg"}"#

  @Test(
    arguments: [
      ("", "placeholder", 6, "the service was started offline"),
      ("?network=wifi", "original", 2, "the request names another network"),
      ("?network=cellular", "thumbnail", 4, "and a metered one"),
      ("?network=cellular&set=always-original=yes", "original", 3, "with a setting"),
      (
        "?network=cellular&set=always-original=yes&set=always-original=no", "thumbnail", 4,
        "the last value counts"
      ),
      ("?policy=data-saver&network=wifi&metered=yes", "thumbnail", nil, "and another policy"),
      ("?set=thumbnail=cached", "thumbnail", 5, "the facts given to the service still apply"),
    ] as [(String, String, Int?, String)]
  )
  func `a request is decided with the facts that it gives`(
    _ query: String,
    _ image: String,
    _ rule: Int?,
    _ reason: String
  ) throws {
    let service = try ServiceRun(["--network=offline"])
    let response = try service.curl("/v1/resolve\(query)", "--json", Self.item)
    #expect(response.object["image"]?.text == image, "\(reason): \(response.text)")
    if let rule { #expect(response.object["rule"] == .integer(rule), "\(reason)") }
  }

  @Test func `the metering that the service was given does not apply to another network`() throws {
    let service = try ServiceRun(["--network=cellular", "--metered=yes"])
    let facts = try service.curl("/v1/resolve?network=wifi", "--json", Self.item).object["facts"]
    #expect(facts?["metered"]?["value"] == "no")
  }

  @Test func `an image is loaded with the request's facts, and the next one with the service's`() throws {
    let origin = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    let item = #"{"originalImage":"\#(origin.url("/a.jpg"))","thumbnailImage":"\#(origin.url("/b.jpg"))"}"#
    let service = try ServiceRun(["--network=offline"])
    #expect(try service.curl("/v1/image", "--json", item).status == 404)
    let thumbnail = try service.curl("/v1/image?network=cellular", "--json", item)
    #expect((thumbnail.status, thumbnail["Feedimg-Image"]) == (200, "thumbnail"))
    #expect(try service.curl("/v1/image", "--json", item)["Feedimg-Image"] == "thumbnail")
    let original = try service.curl("/v1/image?network=wifi", "--json", item)
    #expect(original["Feedimg-Image"] == "original")
    #expect(!FileManager.default.fileExists(atPath: "\(service.root)/config/feedimg/settings.json"))
  }

  @Test func `the policies are listed, and each is shown with its rules`() throws {
    let service = try ServiceRun(["--policy=data-saver"])
    guard case .array(let list) = try JSONReader.value(in: service.curl("/v1/policies").body) else {
      Issue.record("no list")
      return
    }
    #expect(list.first?["policy"] == "default")
    #expect(list.filter { $0["inForce"] == true }.map { $0["policy"] } == ["data-saver"])
    #expect(try service.curl("/v1/policy").object["policy"] == "data-saver")
    let rules = try service.curl("/v1/policy?name=default").object["rules"]
    guard case .array(let rules)? = rules else {
      Issue.record("no rules")
      return
    }
    #expect(rules.count == 6)
    #expect(rules[1]["image"] == "original")
  }

  @Test func `the feed is the current content of the file`() throws {
    let service = try ServiceRun()
    #expect(try service.curl("/v1/items").text == "[]\n")
    let file = "\(service.root)/feed.jsonl"
    try Data("\(Self.item)\n\(Self.item)\n".utf8).write(to: URL(filePath: file))
    let second = try ServiceRun(["--items=\(file)", "--socket=\(service.root)/second"], besides: service)
    let target = ["--unix-socket", "\(second.root)/second", "http://localhost/v1/items"]
    #expect(try CurlResponse(of: CurlRun(target)).text == "[\(Self.item),\n\(Self.item)]\n")
    try Data("{".utf8).write(to: URL(filePath: file))
    let broken = try CurlResponse(of: CurlRun(target))
    #expect((broken.status, broken.object["detail"]?.text?.contains("not JSON")) == (500, true))
    try Data("<p><img src='http://x.example/a'>".utf8).write(to: URL(filePath: file))
    let markup = try CurlResponse(of: CurlRun(target))
    #expect((markup.status, markup.object["detail"]?.text?.contains("add `--from html`")) == (500, true))
  }

  @Test func `an invalid item of the feed gives a warning, and with --strict refuses the feed`() throws {
    let service = try ServiceRun()
    let file = "\(service.root)/feed.json"
    try Data("[\(Self.item),{\"originalImage\":\"a\"},\(Self.item)]".utf8).write(to: URL(filePath: file))
    let arguments = ["--items=\(file)", "--socket=\(service.root)/second"]
    let second = try ServiceRun(arguments, besides: service)
    let target = ["--unix-socket", "\(second.root)/second", "http://localhost/v1/items"]
    #expect(try CurlResponse(of: CurlRun(target)).text == "[\(Self.item),\n\(Self.item)]\n")
    let fault =
      "`\(file)`: item 2, `originalImage`: expected an absolute http or https URL, but `a` is relative"
    #expect(second.errors.split(separator: "\n").count { $0 == "feedimg: \(fault)" } == 1)
    second.signal(15)
    #expect(second.end() == 0)
    let refusal = #expect(throws: RunFailure.self) {
      try ServiceRun(arguments + ["--strict"], besides: service)
    }
    #expect(refusal?.message.hasSuffix("feedimg: \(fault)\n") == true)
    // A file without a valid item is most likely no feed.
    try Data("{}".utf8).write(to: URL(filePath: file))
    let empty = #expect(throws: RunFailure.self) { try ServiceRun(arguments, besides: service) }
    #expect(empty?.message.contains("an item needs `originalImage`") == true)
  }

  @Test func `the feed may be a page, whose pictures are items`() throws {
    let service = try ServiceRun()
    let file = "\(service.root)/page.html"
    try Data("<img src=a alt=A><img src=data:,>".utf8).write(to: URL(filePath: file))
    let second = try ServiceRun(
      ["--items=\(file)", "--from=html", "--base=http://x.example/", "--socket=\(service.root)/second"],
      besides: service
    )
    let target = ["--unix-socket", "\(second.root)/second", "http://localhost/v1/items"]
    let items =
      #"[{"originalImage":"http://x.example/a","thumbnailImage":null,"alt":"A","page":"http://x.example/"}]"#
    #expect(try CurlResponse(of: CurlRun(target)).text == items + "\n")
  }

  @Test func `the page contacts no other server and runs only its own code`() throws {
    let service = try ServiceRun()
    for (target, type) in [
      ("/", "text/html"), ("/page/page.css", "text/css"), ("/page/main.js", "text/javascript"),
    ] {
      let response = try service.curl(target)
      #expect(response.status == 200 && response["Content-Type"]?.hasPrefix(type) == true)
      #expect(response["Content-Security-Policy"]?.contains("default-src 'none'; script-src 'self'") == true)
      #expect(
        !response.text.replacing("http://www.w3.org/2000/svg", with: "").contains("://www."),
        "\(target)"
      )
      #expect(try service.curl(target, "-H", "If-None-Match: \(response["ETag"] ?? "")").status == 304)
    }
  }
}

extension JSONValue {
  fileprivate subscript(name: String) -> JSONValue? {
    if case .object(let object) = self { object[name] } else { nil }
  }
}

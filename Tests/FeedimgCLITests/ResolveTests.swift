import FeedimgJSON
import Testing

/// `feedimg resolve` as a user runs it.
@Suite struct ResolveTests {
  static let item = """
    {"id": "7", "originalImage": "https://x.example/a.jpg", "thumbnailImage": "https://x.example/a-small.jpg",
     "placeholder": {"color": "#336699"}}
    """

  struct Case: CustomTestStringConvertible {
    var options: [String]
    var image: String
    var source: String
    var show: String
    var load: String
    var rule: Int
    var why: String
    var testDescription: String { options.joined(separator: " ") }
  }

  /// The default policy with a cold cache.
  static let cases: [Case] = [
    Case(
      options: ["--network", "wifi"],
      image: "original",
      source: "network",
      show: "placeholder",
      load: "original",
      rule: 2,
      why: "network is wifi"
    ),
    Case(
      options: ["--network", "ethernet", "--metered", "yes"],
      image: "original",
      source: "network",
      show: "placeholder",
      load: "original",
      rule: 2,
      why: "network is ethernet"
    ),
    Case(
      options: ["--network", "cellular"],
      image: "thumbnail",
      source: "network",
      show: "placeholder",
      load: "thumbnail",
      rule: 4,
      why: "network is cellular; always original is no"
    ),
    Case(
      options: ["--network", "cellular", "--set", "always-original=yes"],
      image: "original",
      source: "network",
      show: "placeholder",
      load: "original",
      rule: 3,
      why: "network is cellular; always original is yes"
    ),
    Case(
      options: ["--network", "other"],
      image: "thumbnail",
      source: "network",
      show: "placeholder",
      load: "thumbnail",
      rule: 4,
      why: "network is other; always original is no"
    ),
    Case(
      options: ["--network", "offline"],
      image: "placeholder",
      source: "none",
      show: "placeholder",
      load: "nothing",
      rule: 6,
      why: "network is offline"
    ),
    Case(
      options: ["--network", "offline", "--set", "original=cached"],
      image: "original",
      source: "cache",
      show: "original",
      load: "nothing",
      rule: 1,
      why: "original is cached"
    ),
    Case(
      options: ["--network", "offline", "--set", "thumbnail=cached"],
      image: "thumbnail",
      source: "cache",
      show: "thumbnail",
      load: "nothing",
      rule: 5,
      why: "network is offline; thumbnail is cached"
    ),
    Case(
      options: ["--network", "wifi", "--set", "thumbnail=cached"],
      image: "original",
      source: "network",
      show: "thumbnail",
      load: "original",
      rule: 2,
      why: "network is wifi"
    ),
  ]

  @Test(arguments: cases)
  func `resolve decides by the default table and says why`(expected: Case) throws {
    let folder = try TestFolder()
    let path = try folder.write("item.json", Self.item)
    let run = try CommandRun(["resolve", "--json", "--item", path] + expected.options, in: folder)
    #expect(run.status == 0)
    #expect(run.errors == "")
    let object = try #require(try run.objects.first)
    #expect(object["image"] == .string(expected.image))
    #expect(object["source"] == .string(expected.source))
    #expect(object["show"] == .string(expected.show))
    #expect(object["load"] == .string(expected.load))
    #expect(object["rule"] == .integer(expected.rule))
    #expect(object["why"] == .string(expected.why))
    #expect(object["policy"] == "default")
    #expect(object["upgrade"] == "never")
    let urls = ["original": "https://x.example/a.jpg", "thumbnail": "https://x.example/a-small.jpg"]
    #expect(object["url"] == urls[expected.image].map(JSONValue.string) ?? .null)
    #expect(folder.files(below: "cache") == [], "resolve writes nothing")
  }

  @Test func `the setting on disk sets the fact always original`() throws {
    let folder = try TestFolder()
    let path = try folder.write("item.json", Self.item)
    let set = try CommandRun(["settings", "set", "always-load-originals-on-cellular", "yes"], in: folder)
    #expect(set.status == 0, "\(set.errors)")
    let run = try CommandRun(["resolve", "--json", "--item", path, "--network", "cellular"], in: folder)
    let object = try #require(try run.objects.first)
    #expect(object["image"] == "original")
    guard case .object(let facts)? = object["facts"], case .object(let fact)? = facts["always original"]
    else {
      Issue.record("no facts")
      return
    }
    #expect(fact["value"] == "yes")
    #expect(fact["source"] == "the setting always-load-originals-on-cellular")
  }

  @Test(arguments: [
    ("an array", "[\(item), \(item)]"), ("JSON lines", item + "\n" + item),
    ("pretty JSON, twice", item + item),
  ])
  func `several items are decided in order, one per line`(name: String, document: String) throws {
    let folder = try TestFolder()
    let path = try folder.write("items.json", document)
    let run = try CommandRun(["resolve", "--json", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 0)
    #expect(run.output.split(separator: "\n").count == 2)
    #expect(try run.objects.map { $0["image"] } == ["original", "original"])
  }

  @Test func `an item can come from standard input`() throws {
    let folder = try TestFolder()
    let path = try folder.write("item.json", Self.item)
    let run = try CommandRun(
      ["resolve", "--json", "--item", "-", "--network", "wifi"],
      in: folder,
      environment: ["TEST_STDIN": path]
    )
    #expect(try run.objects.first?["image"] == "original")
  }

  @Test func `the text output names image, source, meanwhile, rule and reason`() throws {
    let folder = try TestFolder()
    let path = try folder.write("item.json", Self.item)
    let run = try CommandRun(["resolve", "--item", path, "--network", "cellular"], in: folder)
    #expect(
      run.output == """
        thumbnail, from the network  7
          url         https://x.example/a-small.jpg
          meanwhile   the placeholder (#336699)
          because     network is cellular; always original is no  (default, rule 4, default.md:10)

        """
    )
  }

  @Test func `another policy can be chosen`() throws {
    let folder = try TestFolder()
    let path = try folder.write("item.json", Self.item)
    let policy = try folder.write("thrifty.md", "| network | -> image |\n|---|---|\n| - | thumbnail |\n")
    let run = try CommandRun(
      ["resolve", "--json", "--item", path, "--network", "wifi", "--policy", policy],
      in: folder
    )
    let object = try #require(try run.objects.first)
    #expect(object["image"] == "thumbnail")
    #expect(object["policy"] == "thrifty")
    #expect(object["why"] == "always")
  }
}

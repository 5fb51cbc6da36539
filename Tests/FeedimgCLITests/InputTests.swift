import FeedimgJSON
import Testing

/// User errors in the input, and the message for each.
@Suite struct InputTests {
  struct Mistake: CustomTestStringConvertible {
    var name: String
    var item: String
    /// A required part of the message.
    var says: [String]

    var testDescription: String { name }
  }

  static let mistakes: [Mistake] = [
    Mistake(name: "not JSON", item: "{\"originalImage\": \n oops}", says: ["item.json:2:2: not JSON"]),
    Mistake(name: "a number", item: "17", says: ["expected an object, found a number"]),
    Mistake(
      name: "neither URL",
      item: "{\"id\": \"7\"}",
      says: ["originalImage", "thumbnailImage", "variants"]
    ),
    Mistake(
      name: "both null",
      item: "{\"originalImage\": null, \"thumbnailImage\": null}",
      says: ["originalImage"]
    ),
    Mistake(
      name: "a relative URL",
      item: "{\"originalImage\": \"a.jpg\"}",
      says: ["originalImage", "relative"]
    ),
    Mistake(name: "a path", item: "{\"originalImage\": \"/a.jpg\"}", says: ["originalImage", "relative"]),
    Mistake(
      name: "a file URL",
      item: "{\"thumbnailImage\": \"file:///etc/passwd\"}",
      says: ["thumbnailImage", "file"]
    ),
    Mistake(name: "a data URL", item: "{\"originalImage\": \"data:image/png;base64,AA\"}", says: ["`data`"]),
    Mistake(name: "an ftp URL", item: "{\"originalImage\": \"ftp://x.example/a\"}", says: ["`ftp`"]),
    Mistake(
      name: "a long URL",
      item: "{\"originalImage\": \"http://x.example/\(String(repeating: "a", count: 8192))\"}",
      says: ["8209 bytes long", "8192"]
    ),
    Mistake(
      name: "a URL of another type",
      item: "{\"originalImage\": 5}",
      says: ["originalImage", "a string"]
    ),
    Mistake(name: "no host", item: "{\"originalImage\": \"http:///a\"}", says: ["has no host"]),
    Mistake(
      name: "a variant without URL",
      item: "{\"variants\": [{\"role\": \"original\"}]}",
      says: ["variants[0].url"]
    ),
    Mistake(
      name: "an unknown role",
      item: "{\"variants\": [{\"role\": \"big\", \"url\": \"http://x.example/a\"}]}",
      says: ["variants[0].role", "`big`"]
    ),
    Mistake(
      name: "contradictory forms",
      item: """
        {"originalImage": "http://x.example/b",
         "variants": [{"role": "original", "url": "http://x.example/a"}]}
        """,
      says: ["originalImage", "the same URL as in `variants`"]
    ),
    Mistake(
      name: "nested too deep",
      item: String(repeating: "[", count: 100_000),
      says: ["nested more than"]
    ),
    Mistake(name: "half a UTF-8 letter", item: "{\"a\": \"\u{0}\"}", says: ["control character"]),
  ]

  @Test(arguments: mistakes, ["resolve", "load"])
  func `an invalid item gives one sentence with the file, exit 2, and writes nothing`(
    mistake: Mistake,
    verb: String
  ) throws {
    let folder = try TestFolder()
    let item = try folder.write("item.json", mistake.item)
    let run = try CommandRun([verb, "--item", item], in: folder)
    #expect(run.status == 2)
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("feedimg: \(item):"))
    #expect(run.errors.split(separator: "\n").count == 1)
    for words in mistake.says { #expect(run.errors.contains(words), "\(run.errors)") }
    #expect(folder.files(below: "cache") == [])
    #expect(folder.files(below: "config") == [])
  }

  static let mixed = """
    [{"id": "1", "originalImage": "http://127.0.0.1:1/a"},
     {"id": "2", "originalImage": "b"}, 17,
     {"id": "3", "originalImage": "http://127.0.0.1:1/c"}]
    """

  @Test func `an invalid entry is reported and skipped, and the others are loaded`() throws {
    let folder = try TestFolder()
    let path = try folder.write("feed.json", Self.mixed)
    for verb in ["resolve", "load"] {
      let run = try CommandRun([verb, path, "--json", "--network", "offline"], in: folder)
      #expect(run.status == 1)
      #expect(try run.objects.map { $0["id"]?.text } == ["1", "3"])
      let errors = run.errors.split(separator: "\n")
      #expect(errors.count == 2)
      #expect(errors.first?.hasPrefix("feedimg: \(path):2: item 2, `originalImage`: expected") == true)
      #expect(errors.last == "feedimg: \(path):2: item 3: expected an object, found a number")
    }
    let run = try CommandRun(["prefetch", path, "--network", "offline"], in: folder)
    #expect(run.status == 1)
    #expect(run.output.hasPrefix("2 items: "), "\(run.output)")
  }

  @Test(arguments: ["resolve", "load", "prefetch"])
  func `with --strict an invalid entry ends the run before any load`(verb: String) throws {
    let folder = try TestFolder()
    let path = try folder.write("feed.json", Self.mixed)
    let run = try CommandRun([verb, path, "--strict", "--network", "wifi"], in: folder)
    #expect(run.status == 2)
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("feedimg: \(path):2: item 2,"), "\(run.errors)")
    #expect(folder.files(below: "cache") == [])
  }

  @Test(arguments: ["", "[]", "\n"], ["resolve", "load", "prefetch"])
  func `an empty feed is not an error`(text: String, verb: String) throws {
    let folder = try TestFolder()
    let path = try folder.write("feed.json", text)
    let run = try CommandRun([verb, path], in: folder)
    #expect(run.status == 0)
    #expect(run.errors == "feedimg: \(path): contains no items\n")
  }

  @Test func `a feed with only invalid entries ends with 2, after the first of many errors`() throws {
    let folder = try TestFolder()
    let path = try folder.write("feed.jsonl", String(repeating: "17\n", count: 1000))
    let run = try CommandRun(["resolve", path], in: folder)
    #expect(run.status == 2)
    let errors = run.errors.split(separator: "\n")
    #expect(errors.count == 21)
    #expect(errors.last == "feedimg: \(path): 980 more invalid items")
  }

  struct BadOption: CustomTestStringConvertible {
    var arguments: [String]
    var says: [String]
    var testDescription: String { arguments.joined(separator: " ") }
  }

  static let badOptions: [BadOption] = [
    BadOption(arguments: ["--network", "wfi"], says: ["--network", "`wfi`", "did you mean `wifi`"]),
    BadOption(arguments: ["--network", "lte"], says: ["wifi, ethernet, cellular, other, offline"]),
    BadOption(arguments: ["--metered", "maybe"], says: ["--metered", "no, yes, unknown"]),
    BadOption(arguments: ["--set", "always-original"], says: ["--set", "always-original=yes"]),
    BadOption(arguments: ["--set", "allways-original=yes"], says: ["did you mean `always original`"]),
    BadOption(arguments: ["--set", "always-original=maybe"], says: ["no, yes"]),
    BadOption(arguments: ["--policy", "missing.md"], says: ["missing.md", "no such file"]),
    BadOption(arguments: ["--cache-dir", ""], says: ["empty path"]),
    BadOption(arguments: ["--colour"], says: ["--colour"]),
  ]

  @Test(arguments: badOptions)
  func `an invalid option gives a sentence with the expected values, and exit 2`(option: BadOption) throws {
    let folder = try TestFolder()
    let item = try folder.write("item.json", "{\"originalImage\": \"http://x.example/a\"}")
    let run = try CommandRun(["resolve", "--item", item] + option.arguments, in: folder)
    #expect(run.status == 2)
    #expect(run.output == "")
    for words in option.says { #expect(run.errors.contains(words), "\(run.errors)") }
  }

  @Test func `a missing file and a folder are named with the reason`() throws {
    let folder = try TestFolder()
    let missing = try CommandRun(["resolve", "--item", folder.path("no.json")], in: folder)
    #expect(missing.status == 2)
    #expect(
      missing.errors == "feedimg: \(folder.path("no.json")): cannot read: no such file or directory\n"
    )
    let directory = try CommandRun(["resolve", "--item", folder.root], in: folder)
    #expect(directory.status == 2)
    #expect(directory.errors == "feedimg: \(folder.root): cannot read: is a directory\n")
  }

  @Test func `a policy with a gap is refused, with the missing states`() throws {
    let folder = try TestFolder()
    let item = try folder.write("item.json", "{\"originalImage\": \"http://x.example/a\"}")
    let policy = try folder.write("gap.md", "| network | → image |\n|---|---|\n| wifi | original |\n")
    let run = try CommandRun(["resolve", "--item", item, "--policy", policy], in: folder)
    #expect(run.status == 2)
    #expect(run.errors.contains("gap.md: no rule for: network ethernet"), "\(run.errors)")
  }

  @Test func `output that cannot be written is a failure, and endless input is refused`() throws {
    let folder = try TestFolder()
    let item = try folder.write("item.json", "{\"originalImage\": \"http://x.example/a\"}")
    let full = try CommandRun(
      ["resolve", "--item", item],
      in: folder,
      environment: ["TEST_STDOUT": "/dev/full"]
    )
    #expect(full.status == 1)
    #expect(full.errors == "feedimg: cannot write to standard output: no space left on device\n")
    let endless = try CommandRun(["resolve", "--item", "/dev/zero"], in: folder)
    #expect(endless.status == 2)
    #expect(endless.errors.contains("/dev/zero:1:1: not JSON"), "\(endless.errors)")
    let long = try folder.write("long.json", "\n{\"id\": \"\(String(repeating: "a", count: 17 << 20))")
    let single = try CommandRun(["resolve", "--item", long], in: folder)
    #expect(single.status == 2)
    #expect(single.errors == "feedimg: \(long):2: an item is longer than the limit of 16 MiB\n")
  }

  @Test func `standard output that takes no bytes and reports no error is full`() throws {
    let folder = try TestFolder()
    let item = try folder.write("item.json", "{\"originalImage\": \"http://x.example/a\"}")
    // The limit of CPU time ends a program that repeats the call for ever.
    let script = "ulimit -t 60 && exec \"$0\" \"$@\""
    let command = [CommandRun.besideTests("WithFullOutput"), CommandRun.program, "resolve", "--item", item]
    let run = try CommandRun(of: "/bin/sh", ["-c", script] + command, in: folder)
    #expect(run.status == 1)
    #expect(run.errors == "feedimg: cannot write to standard output: no space left on device\n")
  }

  @Test func `the text of an item cannot control the terminal`() throws {
    let folder = try TestFolder()
    let item = try folder.write(
      "item.json",
      "{\"id\": \"\\u001b[31m\\u202ered\", \"originalImage\": \"http://x.example/a\"}"
    )
    let text = try CommandRun(["resolve", "--item", item, "--network", "wifi"], in: folder)
    #expect(text.output.contains("\\u{1b}[31m\\u{202e}red"), "\(text.output)")
    let json = try CommandRun(["resolve", "--json", "--item", item, "--network", "wifi"], in: folder)
    #expect(try json.objects.first?["id"] == "\u{1B}[31m\u{202E}red")
    #expect(json.output.utf8.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0x0A })
  }

  @Test func `help and version are not errors`() throws {
    let folder = try TestFolder()
    for arguments in [
      ["--help"], ["--version"], ["help", "load"], ["--generate-completion-script", "bash"],
    ] {
      let run = try CommandRun(arguments, in: folder)
      #expect(run.status == 0, "\(arguments)")
      #expect(!run.output.isEmpty, "\(arguments)")
      #expect(run.errors == "", "\(arguments)")
    }
  }
}

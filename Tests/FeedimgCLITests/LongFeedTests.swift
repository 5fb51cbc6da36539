import FeedimgJSON
import Testing

/// Feeds that are longer than one read.
@Suite struct LongFeedTests {
  private static func line(_ number: Int) -> String {
    "{\"id\": \"\(number)\", \"originalImage\": \"https://x.example/\(number)\"}\n"
  }

  @Test(arguments: [false, true])
  func `each item of a long feed is decided once, in order`(isArray: Bool) throws {
    let folder = try TestFolder()
    let lines = (1...20_000).map(Self.line)
    let path = try folder.write("feed", isArray ? "[\(lines.joined(separator: ","))]" : lines.joined())
    let run = try CommandRun(["resolve", "--json", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    let ids = run.output.split(separator: "\n").map { $0.prefix { $0 != "," } }
    #expect(ids == (1...20_000).map { "{\"id\":\"\($0)\"" })
    let text = try CommandRun(["resolve", "--item", path, "--network", "wifi"], in: folder)
    let last = "20000. original, from the network  20000\n  url         https://x.example/20000\n"
    #expect(text.output.contains("\n" + last))
  }

  @Test(arguments: [false, true])
  func `an invalid line late in a long feed is named, and skipped unless the run is strict`(
    isStrict: Bool
  ) throws {
    let folder = try TestFolder()
    var lines = (1...20_000).map(Self.line)
    lines[14_999] = "{\"originalImage\": \"a.jpg\"}\n"
    let path = try folder.write("feed.jsonl", lines.joined())
    let arguments = ["resolve", "--json", "--item", path, "--network", "wifi"]
    let run = try CommandRun(arguments + (isStrict ? ["--strict"] : []), in: folder)
    #expect(run.status == (isStrict ? 2 : 1))
    let says = "item 15000, `originalImage`: expected an absolute http or https URL, but `a.jpg` is relative"
    #expect(run.errors == "feedimg: \(path):15000: \(says)\n")
    #expect(run.output.hasSuffix("\n"))
    let count = run.output.split(separator: "\n").count
    #expect(isStrict ? count < 15_000 : count == 19_999)
  }

  @Test func `a reader that closes the pipe early ends the run without an error`() throws {
    let folder = try TestFolder()
    let path = try folder.write("feed.jsonl", (1...20_000).map(Self.line).joined())
    let script = "'\(CommandRun.program)' resolve --json --network wifi --item \(path) | head -n 1"
    let run = try CommandRun(of: "/bin/sh", ["-c", script], in: folder)
    #expect(run.errors == "")
    #expect(run.output.split(separator: "\n").count == 1)
  }

  @Test func `a fact of an application can be declared and set`() throws {
    let folder = try TestFolder()
    let item = try folder.write("item.json", ResolveTests.item)
    let table = "| on screen | → image |\n|---|---|\n| yes | original |\n| no | thumbnail |\n"
    let policy = try folder.write("screen.md", table)
    let options = ["resolve", "--json", "--item", item, "--network", "wifi", "--policy", policy]
    let declared = options + ["--declare", "on-screen=no,yes"]
    #expect(try CommandRun(declared, in: folder).objects.first?["image"] == "thumbnail")
    let given = try CommandRun(declared + ["--set", "on-screen=yes"], in: folder)
    #expect(try given.objects.first?["why"] == "on screen is yes")
    let undeclared = try CommandRun(options, in: folder)
    #expect(undeclared.status == 2)
    #expect(undeclared.errors.contains("screen.md:1"), "\(undeclared.errors)")
    let wrong = try CommandRun(options + ["--declare", "on-screen"], in: folder)
    #expect(wrong.status == 2)
    #expect(wrong.errors.contains("--declare on-screen: expected"), "\(wrong.errors)")
  }
}

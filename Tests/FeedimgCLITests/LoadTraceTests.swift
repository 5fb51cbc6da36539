import FeedimgJSON
import LoopbackServer
import Testing

/// `feedimg load --trace`, and the usage that loads record, with a real server.
@Suite struct LoadTraceTests {
  @Test func `a trace shows every step of a load with its time`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try folder.write("item.json", LoadTests.item(server, original: "/moved", thumbnail: nil))
    let run = try CommandRun(["load", "--item", path, "--network", "wifi", "--trace"], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    let lines = run.output.split(separator: "\n").filter { $0.contains(" ms  ") }
    let steps = lines.compactMap { $0.split(separator: " ").dropFirst(2).first.map(String.init) }
    #expect(
      steps == [
        "decided", "missed", "queued", "started", "requested", "redirected", "requested", "response",
        "received",
        "verified", "stored", "finished",
      ]
    )
    #expect(lines[0].hasPrefix("       0.0 ms  decided "), "\(lines[0])")
    #expect(lines[0].hasSuffix("  original: network is wifi"))
    #expect(lines.contains { $0.hasSuffix("  200") })
    // The words after the bars are aligned.
    let told = lines.map(Array.init).filter { $0.count > 54 }
    #expect(told.count >= 8 && told.allSatisfy { $0[53] == " " && $0[54] != " " })
  }

  @Test func `a trace says that the service is not used`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try folder.write("item.json", LoadTests.item(server, original: "/moved", thumbnail: nil))
    let load = ["load", "--item", path, "--network", "wifi", "--trace"]
    let run = try CommandRun(load + ["-v"], in: folder)
    #expect(run.errors == "feedimg: not loaded by the service, since `--trace` covers only this program\n")
    #expect(try CommandRun(load + ["-v", "--no-service"], in: folder).errors == "")
  }

  @Test func `JSON has the trace as a member, also if the load fails`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    func steps(_ target: String, _ network: String) throws -> [String] {
      let path = try folder.write("item.json", LoadTests.item(server, original: target, thumbnail: nil))
      let run = try CommandRun(
        ["load", "--json", "--item", path, "--network", network, "--trace"],
        in: folder
      )
      let object = try #require(try run.objects.first)
      guard case .array(let entries)? = object["trace"] else { return [] }
      return entries.compactMap { if case .object(let entry) = $0 { entry["step"]?.text } else { nil } }
    }
    #expect(try steps("/original.jpg", "wifi").suffix(2) == ["stored", "finished"])
    #expect(try steps("/original.jpg", "wifi") == ["decided", "found", "finished"])
    #expect(try steps("/missing", "wifi").last == "failed")
    #expect(try steps("/other", "offline") == ["decided", "failed"])
  }

  @Test func `a trace beside an image on standard output goes to standard error`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try folder.write(
      "item.json",
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil)
    )
    let image = folder.path("image.jpg")
    let run = try CommandRun(
      ["load", "--item", path, "--network", "wifi", "--trace", "-o", "-"],
      in: folder,
      environment: ["TEST_STDOUT": image]
    )
    #expect(run.status == 0)
    #expect(try TestFolder.bytes(of: image) == SampleImage.jpeg)
    #expect(run.errors.contains("ms  finished"))
  }

  @Test(arguments: [[], ["--trace"]])
  func `JSON beside an image on standard output goes to standard error`(_ more: [String]) throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try folder.write(
      "item.json",
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil)
    )
    let image = folder.path("image.jpg")
    let run = try CommandRun(
      ["load", "--item", path, "--network", "wifi", "--json", "-o", "-"] + more,
      in: folder,
      environment: ["TEST_STDOUT": image]
    )
    #expect(run.status == 0)
    #expect(try TestFolder.bytes(of: image) == SampleImage.jpeg)
    #expect(run.errors.hasPrefix("{") && run.errors.contains("\"source\":\"network\""), "\(run.errors)")
    #expect(run.errors.contains("\"trace\":[") == !more.isEmpty)
  }

  @Test func `a trace is printed although the image cannot be written`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try folder.write(
      "item.json",
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil)
    )
    let run = try CommandRun(
      ["load", "--item", path, "--network", "wifi", "--trace", "-o", "/dev/full"],
      in: folder
    )
    #expect(run.status == 1)
    #expect(run.output.contains("ms  decided") && run.output.contains("ms  finished"), "\(run.output)")
    #expect(run.errors.hasSuffix("--output /dev/full: cannot write: no space left on device\n"))
  }

  @Test func `a trace covers one load`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let item = LoadTests.item(server, original: "/original.jpg", thumbnail: nil)
    let path = try folder.write("items.jsonl", "\(item)\n\(item)\n")
    let run = try CommandRun(["load", "--item", path, "--trace"], in: folder)
    #expect(run.status == 2)
    #expect(run.errors.contains("--trace: expected one item, but `\(path)` has 2 items"))
  }

  // MARK: The ledger. Traffic through a proxy counts, even if the proxy is on this machine

  private func load(
    _ folder: TestFolder,
    _ server: LoopbackServer,
    _ target: String,
    by command: [String] = ["load", "--item"]
  ) throws -> CommandRun {
    let item = "{\"originalImage\": \"http://pictures.example\(target)\"}"
    let path = try folder.write("item.json", item)
    return try CommandRun(
      command + [path, "--network", "wifi"],
      in: folder,
      environment: ["http_proxy": server.url("/")]
    )
  }

  private func total(_ folder: TestFolder) throws -> JSONValue? {
    try CommandRun(["usage", "--json"], in: folder).objects.first?["total"]
  }

  @Test func `the ledger counts every byte of a load, also if it fails`() throws {
    let folder = try TestFolder()
    let good = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    let bad = Reply.response(404, body: Array("not here".utf8))
    let server = try LoopbackServer { $0.target.hasSuffix("/a.jpg") ? good : bad }
    func length(_ reply: Reply) -> Int {
      reply.steps.reduce(0) { if case .send(let bytes) = $1 { $0 + bytes.count } else { $0 } }
    }
    #expect(try load(folder, server, "/a.jpg").status == 0)
    #expect(try total(folder) == ["bytes": .integer(length(good)), "transfers": 1])
    #expect(try load(folder, server, "/b.jpg").status == 1)
    let both = try total(folder)
    guard case .object(let sum)? = both, let bytes = sum["bytes"]?.integer else {
      Issue.record("no total")
      return
    }
    // The second transfer stops at its head. libcurl may not have counted the end of it.
    #expect(bytes > length(good) + 30 && bytes <= length(good) + length(bad))
    #expect(sum["transfers"] == 2)
    #expect(try load(folder, server, "/a.jpg").status == 0)
    #expect(server.log.requests.count == 2, "a cache hit transfers nothing")
    #expect(try total(folder) == both)
  }

  @Test func `traffic with this machine itself is not counted`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try folder.write(
      "item.json",
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil)
    )
    #expect(try CommandRun(["load", "--item", path, "--network", "wifi"], in: folder).status == 0)
    #expect(try total(folder) == ["bytes": 0, "transfers": 0])
  }

  @Test(arguments: [["load", "--item"], ["prefetch"]])
  func `a ledger that cannot be written does not fail the load`(_ command: [String]) throws {
    let folder = try TestFolder()
    try folder.write(".local/state", "a file in place of the folder")
    let server = try LoopbackServer { _ in .response(200, body: SampleImage.jpeg) }
    let run = try load(folder, server, "/a.jpg", by: command)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.hasPrefix("feedimg: usage is counted in memory alone: cannot "), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }
}

import FeedimgJSON
import LoopbackServer
import Testing

/// URLs with `user:password@`: the server receives the credentials, and no output shows them.
@Suite struct CredentialTests {
  @Test func `no command prints a password`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    func url(_ path: String) -> String { "http://zoe7:s3cret@127.0.0.1:\(server.port)\(path)" }
    let item = try folder.write("item.json", "{\"originalImage\": \"\(url("/original.jpg"))\"}")
    let wrong = try folder.write("wrong.json", "{\"originalImage\": \"ftp://zoe7:s3cret@x.example/a\"}")
    let network = ["--network", "wifi"]
    let commands: [[String]] = [
      ["resolve", item] + network, ["resolve", item, "--json"] + network, ["load", item] + network,
      ["load", item, "--json"] + network, ["load", item, "--trace"] + network,
      ["load", url("/missing")] + network, ["load", url("/missing"), "--json"] + network,
      ["prefetch", item, "--json"] + network, ["prefetch", url("/400"), "--json"] + network,
      ["resolve", wrong], ["resolve", "ftp://zoe7:s3cret@x.example/a"], ["cache", "list"],
      ["cache", "list", "--json"], ["cache", "show", url("/original.jpg")],
      ["cache", "show", url("/original.jpg"), "--json"], ["cache", "pin", url("/nothing")],
      ["cache", "show", url("/nothing")], ["cache", "remove", "ftp://zoe7:s3cret@x.example/a"],
      ["cache", "verify", "--json"],
    ]
    for arguments in commands {
      let run = try CommandRun(arguments, in: folder)
      #expect(!run.output.contains("s3cret") && !run.errors.contains("s3cret"), "\(arguments): \(run)")
      #expect(!run.output.contains("zoe7"), "\(arguments): \(run.output)")
    }
    let list = try CommandRun(["cache", "list", "--json"], in: folder)
    #expect(try list.objects.map { $0["url"]?.text } == [server.url("/original.jpg")])
    #expect(server.log.requests.first?["authorization"] != nil)
  }

  @Test func `an image that was fetched with credentials is shown, pinned and removed by its URL`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let url = server.url("/original.jpg")
    let load = ["load", url, "--network", "wifi"]
    for credentials in [[], ["--header", "Authorization: ann"], ["--header", "Authorization: bob"]] {
      #expect(try CommandRun(load + credentials, in: folder).status == 0)
      let shown = try CommandRun(["cache", "show", url, "--json"], in: folder)
      #expect(try shown.objects.first?["url"] == .string(url), "\(shown.errors)")
    }
    func pins() throws -> [Bool] {
      try CommandRun(["cache", "list", "--json"], in: folder).objects.map { $0["pinned"] == .bool(true) }
    }
    #expect(try CommandRun(["cache", "pin", url], in: folder).status == 0)
    #expect(try pins() == [true, true, true])
    #expect(try CommandRun(["cache", "unpin", url], in: folder).status == 0)
    #expect(try pins() == [false, false, false])
    #expect(try CommandRun(["cache", "remove", url], in: folder).status == 0)
    #expect(!folder.files(below: "cache").contains { $0.contains("/bodies/") })
    #expect(try CommandRun(["cache", "remove", url], in: folder).status == 1)
  }

  @Test func `no file of the cache contains a password`() throws {
    let server = try LoopbackServer { request in
      let link = "http://zoe7:s3cret@127.0.0.1\(request.path)"
      return .response(
        200,
        [("Content-Type", "image/jpeg"), ("Content-Location", link), ("Link", "<\(link)>; rel=self")],
        body: SampleImage.jpeg
      )
    }
    let folder = try TestFolder()
    let personal = "http://zoe7:s3cret@127.0.0.1:\(server.port)/personal.jpg"
    for url in [personal, server.url("/public.jpg")] {
      for network in ["wifi", "offline"] {
        let run = try CommandRun(["load", url, "--network", network, "--json"], in: folder)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.objects.first?["source"] == (network == "wifi" ? "network" : "cache"))
      }
    }
    for file in folder.files(below: "cache") {
      let text = String(decoding: try TestFolder.bytes(of: folder.path("cache/\(file)")), as: UTF8.self)
      #expect(!text.contains("s3cret") && !text.contains("zoe7"), "\(file)")
    }
    #expect(try CommandRun(["cache", "remove", personal], in: folder).status == 0)
    #expect(try CommandRun(["load", personal, "--network", "wifi"], in: folder).status == 0)
    #expect(server.log.requests.count == 3)
  }
}

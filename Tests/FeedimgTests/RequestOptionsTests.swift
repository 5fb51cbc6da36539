import FoundationEssentials
import LoopbackServer
import Synchronization
import TestSystem
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Header fields, certificates, proxy and time limits of the program.
@Suite(.timeLimit(.minutes(10))) struct RequestOptionsTests {
  private static let kept = [("Cache-Control", "max-age=600")]

  private func loader(_ options: RequestOptions, folder: String? = nil) throws -> TestLoader {
    var configuration = ImageLoader.Configuration(environment: ["HOME": "/nowhere"])
    configuration.requests = options
    return try TestLoader(identity: RequestIdentity(configuration), folder: folder)
  }

  private func options(_ server: LoopbackServer, _ fields: [String: String]) -> RequestOptions {
    var options = RequestOptions()
    options.headers = [server.url(""): fields]
    return options
  }

  @Test func `a field goes to its origin, and not to the target of a redirect`() async throws {
    let target = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    let url = target.url("/b.jpg")
    let server = try LoopbackServer { $0.path == "/a.jpg" ? .redirect(to: url) : .redirect(to: "/a.jpg") }
    let test = try loader(options(server, ["X-Key": "1", "Accept": "image/png", "User-Agent": "mine"]))
    _ = try await test.loader.load(try TestLoader.item(server, original: "/c.jpg"))
    #expect(server.log.requests.map { $0["X-Key"] } == ["1", "1"])
    #expect(server.log.requests.map { $0["Accept"] } == ["image/png", "image/png"])
    #expect(server.log.requests.map { $0["User-Agent"] } == ["mine", "mine"])
    #expect(target.log.requests.map { $0["X-Key"] } == [nil])
    #expect(target.log.requests.map { $0["Accept"] } == [ImageLoader.usualAccept])
    #expect(target.log.requests.map { $0["User-Agent"] } != ["mine"])
  }

  @Test func `an image of another origin is requested without the field`() async throws {
    let server = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    let other = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    let test = try loader(options(other, ["X-Key": "1"]))
    _ = try await test.loader.load(try TestLoader.item(server, original: "/a.jpg"))
    #expect(server.log.requests.map { $0["X-Key"] } == [nil])
  }

  @Test func `a modifier changes each request, but not the fields of feedimg`() async throws {
    let server = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    var options = options(server, ["X-Old": "1", "X-Key": "1"])
    options.modify = { request in
      request[header: "x-old"] = nil
      request[header: "X-Key"] = (request[header: "X-Key"] ?? "") + String(request.url.text.suffix(5))
      request[header: "Range"] = "bytes=5-"
      request[header: "X-Line"] = "a\r\nb"
    }
    _ = try await loader(options).loader.load(try TestLoader.item(server, original: "/a.jpg"))
    let request = try #require(server.log.requests.first)
    #expect(request["X-Key"] == "1a.jpg" && request["X-Old"] == nil && request["Range"] == nil)
    #expect(request["X-Line"] == "a  b")
  }

  @Test func `programs with other credentials never share an image`() async throws {
    let server = try LoopbackServer { request in
      let isAnn = request["Authorization"] == "ann"
      return .response(200, Self.kept, body: isAnn ? SampleImage.jpeg : SampleImage.png)
    }
    let item = try TestLoader.item(server, original: "/a.jpg")
    let ann = try loader(options(server, ["Authorization": "ann"]))
    _ = try await ann.loader.load(item)
    for (options, isKnown) in [
      (options(server, ["Authorization": "ann"]), true), (options(server, ["Authorization": "bob"]), false),
      (RequestOptions(), false),
    ] {
      let other = try loader(options, folder: ann.folder)
      #expect(other.loader.resolve(item).situation.original == (isKnown ? .cached : .remote))
      let image = try await other.loader.load(item)
      #expect(image.bytes == (isKnown ? SampleImage.jpeg : SampleImage.png))
    }
    #expect(server.log.requests.count == 3)
  }

  @Test func `an account keeps its images when its token changes`() async throws {
    let server = try LoopbackServer { _ in .response(200, Self.kept, body: SampleImage.jpeg) }
    let item = try TestLoader.item(server, original: "/a.jpg")
    var options = options(server, ["Authorization": "old"])
    options.account = "ann"
    let first = try loader(options)
    _ = try await first.loader.load(item)
    options.headers = [server.url(""): ["Authorization": "new"]]
    #expect(try await loader(options, folder: first.folder).loader.load(item).source == .disk)
    options.account = "bob"
    #expect(try await loader(options, folder: first.folder).loader.load(item).source == .network)
  }

  @Test func `an image that was refused is requested again with other credentials`() async throws {
    let token = Mutex("old")
    let server = try LoopbackServer { request in
      request["Authorization"] == "new" ? .response(body: SampleImage.jpeg) : .response(401)
    }
    var options = RequestOptions()
    options.account = "ann"
    options.modify = { request in request[header: "Authorization"] = token.withLock { $0 } }
    let test = try loader(options)
    let item = try TestLoader.item(server, original: "/a.jpg")
    for _ in 0..<2 {
      let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
      #expect(error?.status == 401)
    }
    #expect(server.log.requests.count == 1, "the refusal is remembered for these credentials")
    token.withLock { $0 = "new" }
    #expect(try await test.loader.load(item).bytes == SampleImage.jpeg)
  }

  @Test func `a field that Vary names chooses among the cached images`() async throws {
    let server = try LoopbackServer { request in
      .response(
        200,
        Self.kept + [("Vary", "X-Size")],
        body: request["X-Size"] == "1" ? SampleImage.jpeg : SampleImage.png
      )
    }
    let item = try TestLoader.item(server, original: "/a.jpg")
    let first = try loader(options(server, ["X-Size": "1", "X-Id": "1"]))
    _ = try await first.loader.load(item)
    let same = try loader(options(server, ["X-Size": "1", "X-Id": "2"]), folder: first.folder)
    #expect(try await same.loader.load(item).source == .disk)
    let other = try loader(options(server, ["X-Size": "2"]), folder: first.folder)
    #expect(try await other.loader.load(item).bytes == SampleImage.png)
    #expect(server.log.requests.count == 2)
  }

  @Test func `the time limits of the program hold`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: .response(body: SampleImage.jpeg)) }
    var options = RequestOptions()
    options.timeouts.response = .milliseconds(50)
    let test = try loader(options)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.code == .timeout)
    gate.open()
  }

  static let faults: [(@Sendable (inout RequestOptions) -> Void, String)] = [
    (
      { $0.headers = ["x.example": [:]] },
      "requests.headers: expected an origin such as `https://x.example`, found `x.example`"
    ),
    (
      { $0.headers = ["https://x.example/a": [:]] },
      "requests.headers: expected an origin such as `https://x.example`, found `https://x.example/a`"
    ),
    ({ $0.headers = ["https://x.example": ["Range": "1"]] }, "requests.headers: feedimg sets `Range` itself"),
    (
      { $0.headers = ["https://x.example": ["X-A": "a\nb"]] },
      "requests.headers: `X-A` has an invalid name or value"
    ),
    ({ $0.certificateFile = "/nonexistent.pem" }, "requests: cannot read `/nonexistent.pem`"),
    ({ $0.timeouts.total = .zero }, "requests.timeouts: expected durations above 0"),
    ({ $0.downloadsPerSecond = 0 }, "requests.downloadsPerSecond: expected a number from 0.001 to 1000000"),
  ]

  @Test(arguments: faults.indices)
  func `unusable options are refused when the loader is created`(_ index: Int) {
    let (change, message) = Self.faults[index]
    var configuration = ImageLoader.Configuration(environment: ["HOME": "/nowhere"])
    change(&configuration.requests)
    let error = #expect(throws: ConfigurationError.self) { try ImageLoader(configuration) }
    #expect(error?.messages == [message])
  }
}

/// Certificates and proxies, as a configuration sets them.
@Suite(.timeLimit(.minutes(10))) struct RequestConnectionTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func failure(_ url: String, _ options: RequestOptions) async throws -> LoadError? {
    var configuration = ImageLoader.Configuration(environment: ["HOME": folder.path])
    configuration.requests = options
    let test = try TestLoader(downloader: LoaderParts(configuration).downloader)
    let item = try TestLoader.item(original: url)
    do throws(LoadError) {
      _ = try await test.loader.load(item)
      return nil
    } catch {
      return error
    }
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no /usr/bin/openssl to be the server"))
  func `the program's authorities are trusted instead of the system's`() async throws {
    let server = try TLSServer(certifiedFor: "localhost")
    let url = "https://localhost:\(server.port)/"
    var options = RequestOptions()
    #expect(try await failure(url, options)?.code == .security)
    options.certificateFile = server.certificateFile
    #expect(try await failure(url, options)?.code == .notAnImage, "the server has only a page")
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no /usr/bin/openssl to be the server"))
  func `only the named origins receive the client certificate`() async throws {
    let server = try TLSServer(certifiedFor: "localhost", asksForCertificate: true)
    let origin = "https://localhost:\(server.port)"
    var options = RequestOptions()
    options.certificateFile = server.certificateFile
    options.clientCertificate = ClientCertificate(
      origins: [origin],
      file: server.certificateFile,
      keyFile: server.keyFile
    )
    #expect(try await failure(origin + "/", options)?.code == .notAnImage, "the server has only a page")
    options.clientCertificate?.origins = ["https://localhost:1"]
    #expect(try await failure(origin + "/", options)?.code != .notAnImage)
  }

  @Test func `the program's proxy gets the request`() async throws {
    let proxy = try LoopbackServer { _ in .response(body: SampleImage.jpeg) }
    var options = RequestOptions()
    options.proxy = proxy.url("")
    #expect(try await failure("http://a.invalid/a.jpg", options) == nil)
    #expect(proxy.log.requests.map(\.target) == ["http://a.invalid/a.jpg"])
  }
}

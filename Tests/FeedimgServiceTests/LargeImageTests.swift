import Glibc
import LoopbackServer
import Synchronization
import Testing

/// Large images that are requested repeatedly, with a real origin behind the service.
@Suite(.timeLimit(.minutes(10))) struct LargeImageTests {
  /// The next version of each picture, by path.
  private final class Versions: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func next(_ path: String) -> Int {
      counts.withLock { counts in
        counts[path, default: 0] += 1
        return counts[path] ?? 0
      }
    }
  }

  /// An origin whose every response is another version, in size and content.
  private static func origin() throws -> LoopbackServer {
    let versions = Versions()
    return try LoopbackServer { request in
      .response(
        200,
        [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")],
        body: picture(request.path, versions.next(request.path))
      )
    }
  }

  /// Different bytes at every position.
  private static let content: [UInt8] = {
    var state: UInt32 = 1
    return (0..<1 << 20).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }()

  /// The path is a slash and the size in thousands of bytes.
  private static func picture(_ path: String, _ version: Int) -> [UInt8] {
    let size = (Int(path.dropFirst()) ?? 0) * 1000
    let start = (size + version * 1009) % 65_536
    var picture = SampleImage.jpeg
    while picture.count < size + version {
      picture += content[start...].prefix(size + version - picture.count)
    }
    return picture
  }

  /// The test would take too long to print the difference of this many bytes.
  private func isSame(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
    bytes.count == wanted.count && memcmp(bytes, wanted, bytes.count) == 0
  }

  @Test func `repeated requests get equal responses over every socket`() throws {
    let origin = try Self.origin()
    let service = try ServiceRun.onBothSockets()
    let port = try #require(service.port)
    let target = RawClient.target(image: origin.url("/500"))
    let picture = Self.picture("/500", 1)
    let clients = [try RawClient(service.socket), try RawClient(port: port)]
    for _ in 0..<3 {
      clients[1].get(target)
      #expect(isSame(clients[1].response().body, picture))
    }
    var heads: Set<String> = []
    for _ in 0..<4 {
      clients[0].get(target)
      let (head, body) = clients[0].response()
      #expect(isSame(body, picture))
      let lines = head.split(separator: "\r\n")
      let passing = ["Date", "Cache-Status", "Server-Timing"]
      heads.insert(lines.filter { line in !passing.contains { line.hasPrefix($0) } }.joined(separator: "\n"))
    }
    #expect(heads.count == 1)
    for client in clients {
      for range in [1..<2, 100_000..<400_000, 70_000..<500_001, 0..<500_001] {
        client.get(target, "Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)")
        let (head, body) = client.response()
        #expect(head.hasPrefix("HTTP/1.1 206"))
        #expect(isSame(body, Array(picture[range])))
      }
      client.get(target, "Range: bytes=500001-")
      #expect(client.response().head.hasPrefix("HTTP/1.1 416"))
      let tag = try #require(
        heads.first?.split(separator: "\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6)
      )
      client.get(target, "If-None-Match: \(tag)")
      #expect(client.head().hasPrefix("HTTP/1.1 304"))
      client.get(target, "If-None-Match: \"x\"")
      #expect(isSame(client.response().body, picture))
    }
    let head = try service.curl(target, "--head")
    #expect((head.status, head["Content-Length"]) == (200, "500001"))
    // Two at once, of which the second is not plain.
    clients[0].get(target)
    clients[0].get("/healthz")
    #expect(isSame(clients[0].response().body, picture))
    #expect(clients[0].response().head.hasPrefix("HTTP/1.1 200"))
    #expect(origin.log.requests.count == 1)
  }

  @Test func `empty lines after pipelined requests are no request`() throws {
    let (origin, service) = (try Self.origin(), try ServiceRun(["--network=wifi"]))
    let target = RawClient.target(image: origin.url("/500"))
    #expect(try isSame(service.curl(target).body, Self.picture("/500", 1)))
    let client = try RawClient(service.socket)
    // The second request begins once the first one has its response.
    client.write(
      "GET /v1/cache HTTP/1.1\r\nHost: localhost\r\n\r\nGET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    #expect(client.response().body.first == UInt8(ascii: "{"))
    #expect(isSame(client.response().body, Self.picture("/500", 1)))
    // Between requests, a server ignores empty lines (RFC 9112 §2.2).
    for _ in 0..<2 {
      client.write("\r\n\r\n")
      // The service reads the lines before it responds to a later connection.
      _ = try service.curl("/healthz")
      client.get("/healthz")
      #expect(isSame(client.response().body, Array("ok\n".utf8)))
    }
  }

  @Test func `a slow reader gets the image that it requested after newer versions have replaced it`() throws {
    let (origin, service) = (try Self.origin(), try ServiceRun(["--network=wifi"]))
    let target = RawClient.target(image: origin.url("/800"))
    let (old, new) = (Self.picture("/800", 1), Self.picture("/800", 2))
    #expect(try isSame(service.curl(target).body, old))
    let slow = try (0..<3).map { _ in try RawClient(service.socket) }
    for client in slow {
      client.get(target)
      #expect(client.head().hasPrefix("HTTP/1.1 200"))
    }
    // Another version replaces it.
    #expect(try isSame(service.curl(target, "-H", "Cache-Control: no-cache").body, new))
    for client in slow {
      var bytes: [UInt8] = []
      while bytes.count < old.count, case let piece = client.take(min(50_000, old.count - bytes.count)),
        !piece.isEmpty
      {
        bytes += piece
      }
      #expect(isSame(bytes, old))
      // The connection can be used for the next request.
      client.get(target)
      #expect(isSame(client.response().body, new))
    }
  }

  @Test func `a client that disconnects midway leaves nothing behind`() throws {
    let (origin, service) = (try Self.origin(), try ServiceRun(["--network=wifi"]))
    let target = RawClient.target(image: origin.url("/800"))
    let other = try RawClient(service.socket)
    other.get(target)
    _ = other.response()
    for _ in 0..<30 {
      let client = try RawClient(service.socket)
      client.get(target)
      #expect(client.take(1000).count == 1000)
    }
    while try service.number("feedimg_connections") > 2 {}
    other.get(target)
    #expect(isSame(other.response().body, Self.picture("/800", 1)))
  }

  @Test func `many clients get their exact images while these are evicted and replaced`() throws {
    let (origin, service) = (try Self.origin(), try ServiceRun(["--network=wifi"]))
    // Room for about eight of them.
    _ = try service.curl("/v1/settings", "-X", "PATCH", "--json", #"{"cache-memory-limit": "4MiB"}"#)
    let paths = (0..<12).map { "/\(300 + 40 * ($0 % 6) + $0)" }
    let runs = try (0..<8).map { client in
      // The last client requests new versions all the time.
      let fields = client < 7 ? [] : ["-H", "Cache-Control: no-cache"]
      let order = (0..<24).map { paths[($0 / 4 * (client + 1) + client) % paths.count] }
      let targets = order.map { RawClient.target(image: origin.url($0)) }
      return (order, try service.request(fields + targets))
    }
    for (order, run) in runs {
      for path in order {
        let head = try #require(run.block())
        #expect(head.hasPrefix("HTTP/1.1 200"))
        let line = head.split(separator: "\n").first { $0.lowercased().hasPrefix("content-length: ") }
        let length = try #require(line.flatMap { Int($0.dropFirst(16)) })
        let version = length - (Int(path.dropFirst()) ?? 0) * 1000
        #expect(isSame(run.take(length), Self.picture(path, version)))
      }
      #expect(run.rest() == [])
    }
    #expect(origin.log.requests.count >= paths.count)
  }
}

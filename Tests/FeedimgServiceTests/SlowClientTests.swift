import Glibc
import LoopbackServer
import Testing

/// Clients that read the rest slowly, with a real origin behind the service.
@Suite(.timeLimit(.minutes(10))) struct SlowClientTests {
  private let gate = Gate()
  /// Larger than all buffers on the way, without repetitions.
  private static let content: [UInt8] = {
    var state: UInt32 = 1
    let noise = (0..<1 << 18).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
    return SampleImage.jpeg + (0..<64).flatMap { noise[($0 * 1009)...] }
  }()

  private let picture = content
  private var half: Int { picture.count / 2 }

  /// Half of the picture comes when the gate opens.
  private func origin() throws -> LoopbackServer {
    try LoopbackServer { [gate, picture, half] _ in
      let head = Reply.head(
        200,
        [
          ("Cache-Control", "max-age=60"), ("Content-Type", "image/jpeg"),
          ("Content-Length", "\(picture.count)"),
        ]
      )
      return Reply([.send(head + picture[..<half]), .wait(gate), .send(Array(picture[half...]))])
    }
  }

  /// The test would take too long to print the difference of this many bytes.
  private func isSame(_ bytes: [UInt8], _ wanted: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBytes { bytes in
      wanted.withUnsafeBytes { wanted in
        guard bytes.count == wanted.count, let one = bytes.baseAddress, let other = wanted.baseAddress else {
          return bytes.count == wanted.count
        }
        return memcmp(one, other, bytes.count) == 0
      }
    }
  }

  private static let ways: [(name: String, target: @Sendable (String) -> String)] = [
    ("/v1/image", { RawClient.target(image: $0) }), ("/v1/fetch", { "/v1/fetch?url=\($0)" }),
  ]

  @Test(arguments: ways.indices, [false, true])
  func `a slow reader gets every byte and delays no other`(_ way: Int, overTCP: Bool) throws {
    let (origin, service) = (try origin(), try ServiceRun.onBothSockets())
    let target = Self.ways[way].target(origin.url("/a.jpg"))
    func client() throws -> RawClient {
      overTCP ? try RawClient(port: try #require(service.port)) : try RawClient(service.socket)
    }
    let clients = [try client(), try client(), try client()]
    for client in clients {
      client.get(target)
      let head = client.head()
      #expect(head.hasPrefix("HTTP/1.1 200"))
      #expect(head.contains("Content-Length: \(picture.count)\r\n"))
    }
    // One reads nothing, one a little, and one everything.
    let (asleep, slow, fast) = (clients[0], clients[1], clients[2])
    #expect(isSame(slow.take(1000), picture[..<1000]))
    #expect(isSame(fast.take(half), picture[..<half]))
    #expect(isSame(slow.take(1000), picture[1000..<2000]))

    gate.open()
    #expect(isSame(fast.take(picture.count - half), picture[half...]))
    // The complete image serves a later client, which finishes before the slow ones.
    let next = try client()
    next.get(target)
    #expect(isSame(next.response().body, picture[...]))
    #expect(isSame(slow.take(picture.count - 2000), picture[2000...]))
    #expect(isSame(asleep.take(picture.count), picture[...]))
    #expect(origin.log.count(of: "/a.jpg") == 1)
    // Every connection can be used for the next request.
    for client in clients {
      client.get("/healthz")
      #expect(client.response().head.hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test(arguments: ways.indices) func `clients that disconnect midway do not disturb others`(
    _ way: Int
  ) throws {
    let (origin, service) = (try origin(), try ServiceRun.onBothSockets())
    let target = Self.ways[way].target(origin.url("/a.jpg"))
    let stays = try RawClient(service.socket)
    stays.get(target)
    #expect(stays.head().hasPrefix("HTTP/1.1 200"))
    for _ in 0..<10 {
      let leaves = try RawClient(service.socket)
      leaves.get(target)
      #expect(leaves.take(1000).count == 1000)
    }
    gate.open()
    #expect(isSame(stays.take(picture.count), picture[...]))
    #expect(origin.log.count(of: "/a.jpg") == 1)
  }
}

import Feedimg
import FeedimgAdmin
import FoundationEssentials
import Glibc
import LoopbackServer
import Testing

/// The description of a gateway for `feedimg gateway` and `feedimg doctor`.
@Suite(.timeLimit(.minutes(10))) struct GatewayStatusTests {
  private func written(by service: ServiceRun) -> GatewayStatus? {
    var configuration = ImageLoader.Configuration()
    configuration.configurationFolder = "\(service.root)/config/feedimg"
    return GatewayStatus(configuration)
  }

  @Test func `the settings of all clients work as printed`() throws {
    let server = try LoopbackServer { request in
      request.path == "/api/v1/instance"
        ? .response(200, [("Content-Type", "application/json")], body: Array("{}".utf8))
        : .response(200, [("Content-Type", "image/png")], body: SampleImage.png)
    }
    let gateway = try GatewayRun("mastodon=\(server.url(""))")
    let status = try #require(written(by: gateway.service))
    #expect((status.address, status.server, status.isReached) == (gateway.base, server.url(""), true))
    let clients = status.clients
    #expect(clients.map(\.name) == ["Mastodon clients", "feed readers", "Miniflux", "FreshRSS"])
    #expect(clients.allSatisfy { $0.check.contains($0.value) })
    #expect(try gateway.ask("\(clients[0].value)/api/v1/instance").text == "{}")
    #expect(try gateway.ask(clients[1].value + server.url("/a.png")).body == SampleImage.png)
    let picture = Data(server.url("/b.png").utf8).base64EncodedString()
    #expect(try gateway.ask("\(clients[2].value)/\(picture)").body == SampleImage.png)
    #expect(try gateway.ask(clients[3].value + server.url("/c.png")).body == SampleImage.png)
    gateway.service.signal(SIGTERM)
    #expect(gateway.service.end() == 0)
    #expect(written(by: gateway.service) == nil)
  }

  @Test func `a gateway without a port or after a crash is not reached`() throws {
    let onSocket = try ServiceRun(["--network=wifi", "--gateway=pictures"])
    let without = try #require(written(by: onSocket))
    #expect((without.address, without.clients.isEmpty, without.isReached) == (nil, true, false))
    let gateway = try GatewayRun("pictures")
    gateway.service.signal(SIGKILL)
    #expect(gateway.service.end() == 128)
    let crashed = try #require(written(by: gateway.service))
    #expect((crashed.address, crashed.isReached) == (gateway.base, false))
  }

  @Test func `another program at the port is no gateway`() throws {
    let other = try LoopbackServer { _ in .response(200) }
    #expect(!GatewayStatus(address: "http://127.0.0.1:\(other.port)", server: nil).isReached)
  }

  @Test func `a service without a gateway has no description`() throws {
    #expect(written(by: try ServiceRun(["--network=wifi", "--port=0"])) == nil)
  }
}

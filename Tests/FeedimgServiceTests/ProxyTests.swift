import FeedimgJSON
import LoopbackServer
import Testing

/// The service behind a proxy.
@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
  @Test func `a proxy on this machine is reported as a proxy`() throws {
    let proxy = try LoopbackServer { _ in .response(200, body: SampleImage.jpeg) }
    let service = try ServiceRun(
      ["--network=wifi"],
      allowsPrivate: false,
      environment: ["http_proxy": "http://user:secret@127.0.0.1:\(proxy.port)/"]
    )
    let response = try CurlResponse(
      of: try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=http://images.example/a.jpg"])
    )
    #expect((response.status, response.object["type"]) == (403, "urn:feedimg:problem:forbidden-address"))
    #expect(
      response.text.contains(
        "the proxy `127.0.0.1:\(proxy.port)` of $http_proxy is on this machine or on a private network, which is not "
          + "allowed; allow it with `feedimg serve --allow-private`, or unset $http_proxy"
      )
    )
    #expect(proxy.log.requests.isEmpty)
  }
}

import FeedimgJSON
import LoopbackServer
import Testing

/// `/v1/cache/pins`, with a real origin behind the service.
@Suite(.timeLimit(.minutes(10))) struct PinRouteTests {
  private func pinned(_ service: ServiceRun) throws -> JSONValue? {
    guard case .array(let images)? = try service.curl("/v1/cache?images=9").object["images"],
      case .object(let image)? = images.first
    else { return nil }
    return image["pinned"]
  }

  @Test func `a cached image is pinned and unpinned, and a limit says why it is not`() throws {
    let origin = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    let (service, url) = (try ServiceRun(["--network=wifi"]), origin.url("/a.jpg"))
    _ = try service.curl("/v1/image", "--json", #"{"originalImage":"\#(url)"}"#)
    #expect(try pinned(service) == false)
    let target = "/v1/cache/pins?url=\(url)"
    #expect(try service.curl(target, "-X", "POST").status == 204)
    #expect(try pinned(service) == true)
    #expect(try service.curl(target, "-X", "DELETE").status == 204)
    #expect(try pinned(service) == false)

    _ = try service.curl("/v1/settings", "-X", "PATCH", "--json", #"{"cache-pinned-limit":"1 B"}"#)
    let refused = try service.curl(target, "-X", "POST")
    #expect(refused.status == 507)
    #expect(refused.object["detail"]?.text?.contains("pinned") == true, "\(refused.text)")
    #expect(try pinned(service) == false)
  }
}

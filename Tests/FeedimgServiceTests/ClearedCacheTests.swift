import Feedimg
import FeedimgAdmin
import FeedimgJSON
import LoopbackServer
import Testing

/// A service whose cache another process clears.
@Suite(.timeLimit(.minutes(10))) struct ClearedCacheTests {
  private func ask(_ service: ServiceRun, _ url: String, _ arguments: String...) throws -> CurlResponse {
    let item = JSONValue.object(JSONObject([("originalImage", .string(url))])).text(.compact)
    return try CurlResponse(
      of: try service.request(["-G", "/v1/image", "--data-urlencode", "item=\(item)"] + arguments)
    )
  }

  private func fetch(_ service: ServiceRun, _ url: String, _ arguments: String...) throws -> CurlResponse {
    try CurlResponse(
      of: try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(url)"] + arguments)
    )
  }

  @Test(arguments: [true, false])
  func `after another process removes images, the service has none in memory`(isOne: Bool) throws {
    let origin = try PictureOrigin(SampleImage.jpeg, [("ETag", "\"a\""), ("Cache-Control", "max-age=600")])
    let service = try ServiceRun(["--network=wifi"])
    let url = origin.server.url("/a.jpg")
    var configuration = ImageLoader.Configuration(environment: [:])
    configuration.cacheFolder = "\(service.root)/cache/feedimg"
    configuration.configurationFolder = "\(service.root)/config/feedimg"
    let cache = try ImageCache(configuration)
    let cachedOnly = ["-H", "Cache-Control: only-if-cached"]
    for _ in 0..<2 {
      #expect(try ask(service, url).status == 200)
      #expect(try fetch(service, url).status == 200)
      for _ in 0..<2 {
        #expect(try ask(service, url, cachedOnly[0], cachedOnly[1]).status == 200)
        #expect(try fetch(service, url, cachedOnly[0], cachedOnly[1]).status == 200)
      }
      if isOne { #expect(try cache.remove(ImageURL(url))) } else { _ = try cache.clear() }
      #expect(try ask(service, url, cachedOnly[0], cachedOnly[1]).status == 504)
      #expect(try fetch(service, url, cachedOnly[0], cachedOnly[1]).status == 504)
    }
    withExtendedLifetime(service) {}
  }
}

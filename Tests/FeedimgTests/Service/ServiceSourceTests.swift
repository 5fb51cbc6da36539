import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct ServiceSourceTests {
  @Test(
    arguments: [
      ("feedimg; hit; ttl=999; detail=memory", LoadedImage.Source.disk),
      ("feedimg; fwd=uri-miss; stored", .network),
      ("feedimg; fwd=stale; fwd-status=200; stored", .network),
      ("feedimg; fwd=stale; fwd-status=304", .disk),
      ("feedimg; fwd=request; fwd-status=304; collapsed", .disk),
      ("feedimg; fwd=uri-miss; collapsed", .disk),
      (nil, .disk),
    ] as [(String?, LoadedImage.Source)]
  )
  func `the service's cache status tells the source of an image`(
    field: String?,
    source: LoadedImage.Source
  ) {
    #expect(ServiceClient.source(field) == source)
  }
}

import FeedimgModel
import Testing

@testable import FeedimgHTTPCache

struct BodyNameTests {
  @Test(arguments: ImageFormat.all.map(\.mediaType))
  func `the cache recognises the file names of every format`(_ mediaType: String) throws {
    let name = BodyName(key: "https://a/1", mediaType: mediaType)
    #expect(!name.ending.isEmpty)
    #expect(BodyName(name.text) == name)
  }
}

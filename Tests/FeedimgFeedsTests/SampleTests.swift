import FeedimgFeeds
import FeedimgJSON
import FeedimgModel
import FoundationEssentials
import Testing

/// Real documents of each format; `provenance.json` beside each names its source and licence.
@Suite struct SampleTests {
  struct Sample: CustomTestStringConvertible {
    var folder: String
    var format: FeedFormat
    var input: String
    var testDescription: String { folder }

    func file(_ name: String) throws -> [UInt8] {
      let root = #filePath.split(separator: "/").dropLast().joined(separator: "/")
      return Array(try Data(contentsOf: URL(filePath: "/\(root)/Samples/\(folder)/\(name)")))
    }
  }

  static let samples = [
    Sample(folder: "mastodon/status-gifv", format: .mastodon, input: "input.json"),
    Sample(folder: "mastodon/status-image-focus", format: .mastodon, input: "input.json"),
    Sample(folder: "bluesky/post-record-with-media", format: .bluesky, input: "input.json"),
    Sample(folder: "reddit/image-png", format: .reddit, input: "input.json"),
    Sample(folder: "jsonfeed/gofeed-1.1-full", format: .jsonFeed, input: "input.json"),
    Sample(folder: "rss/gofeed-img-in-description", format: .rss, input: "input.xml"),
    Sample(folder: "mediarss/feedparser-thumbnail-only", format: .atom, input: "input.xml"),
  ]

  @Test(arguments: samples, [true, false])
  func `a real document has exactly the expected items, in order`(sample: Sample, isDetected: Bool) throws {
    let reader = FeedReader(format: isDetected ? nil : sample.format, isStrict: true)
    let document = try reader.read(try sample.file(sample.input))
    #expect(document.format == sample.format)
    #expect(document.warningCount == 0)
    let expected = try JSONReader.value(in: try sample.file("expected.json"))
    let items = try #require(expected["items"]?.elements)
    #expect(document.items.count == items.count)
    for (found, item) in zip(document.items, items) {
      #expect(found.original?.url.text == item["originalImage"]?.text)
      #expect(found.thumbnail?.url.text == item["thumbnailImage"]?.text)
      #expect(found.id == item["id"]?.text ?? found.id)
      #expect(found.alternativeText == item["alt"]?.text)
      #expect(found.kind.rawValue == item["kind"]?.text ?? "picture")
      #expect(found.placeholder.blurHash == item["placeholder"]?["blurhash"]?.text)
      for variant in item["variants"]?.elements ?? [] where variant["role"]?.text != "banner" {
        let role = variant["role"]?.text.flatMap(ImageVariant.Role.init)
        let mine = role.flatMap { found[$0] }
        #expect(mine?.width == variant["width"]?.integer)
        #expect(mine?.height == variant["height"]?.integer)
      }
    }
    let lines = document.items.map(\.json).joined(separator: "\n")
    for url in expected["mustNotAppear"]?.elements ?? [] {
      #expect(!lines.contains(url.text ?? ""), "\(lines)")
    }
    #expect(try FeedItem.items(json: Array(lines.utf8)) == document.items)
  }
}

extension JSONValue {
  fileprivate subscript(name: String) -> JSONValue? {
    guard case .object(let object) = self else { return nil }
    return object[name]
  }

  fileprivate var elements: [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }
}

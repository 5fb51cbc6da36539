import FeedimgPolicy
import FoundationEssentials
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The lines for many items, which must equal the JSON of each resolution.
@Suite struct ResolutionLinesTests {
  /// Items of all kinds: short and rich, with and without optional members, plain and unusual.
  static let feed = """
    {"id": "1", "originalImage": "https://x.example/a", "thumbnailImage": "https://x.example/a-small"}
    {"originalImage": "https://x.example/b"}
    {"id": 3, "thumbnailImage": "https://x.example/c-small", "placeholder": {"color": "#336699", "blurhash": "LEHV6n"}}
    {"id": "", "thumbnailImage": "https://x.example/d-small", "placeholder": {"thumbhash": "3OcRJYB4d3h"}}
    {"id": "5", "variants": [{"role": "original", "url": "https://x.example/e", "bytes": 250000}]}
    {"id": "6", "variants": [{"role": "original", "url": "https://x.example/f", "bytes": 250001},
      {"role": "thumbnail", "url": "https://x.example/f-small"}], "placeholder": {"color": "#000000"}}
    {"id": "7", "variants": [{"role": "original", "url": "https://x.example/g", "bytes": 0}]}
    {"id": "\\u00e4\\u202e", "originalImage": "https:\\/\\/x.example\\/h", "placeholder": {"blurhash": "\\\\"}}
    {"id": "9", "originalImage": "http://127.0.0.1:8080/i", "thumbnailImage": "http://localhost/i-small"}
    {"id": "10", "variants": [{"url": "https://x.example/j", "width": 800, "bytes": 77},
      {"url": "https://x.example/j-small", "width": 400}]}
    """

  static let situations: [[String]] = [
    [], ["network=offline"], ["network=cellular"], ["network=cellular", "budget-left=600 MB", "metered=yes"],
    ["network=cellular", "budget-left=25 MB"], ["original=cached"], ["original=remote", "thumbnail=remote"],
    ["network=offline", "thumbnail=cached"], ["size=5 MB"], ["battery=7 %", "data-saver=on"],
  ]

  static let tellingSize = """
    | size     | fits | → image   |
    |----------|------|-----------|
    | < 300 kB | -    | original  |
    | unknown  | -    | thumbnail |
    | -        | yes  | original  |
    | -        | -    | cached    |

    """

  @Test(arguments: ["default", "budgeted", "metered", "telling-size"], situations)
  func `each line equals the resolution of its item`(policy: String, given: [String]) throws {
    let folders = try PolicyFolders()
    try folders.write("user", "telling-size.md", Self.tellingSize)
    var configuration = folders.configuration()
    configuration.policy = .named(policy)
    configuration.overrides = given.map {
      let parts = $0.split(separator: "=").map(String.init)
      return SituationOverride(fact: parts[0], value: parts[1], source: "the test")
    }
    let loader = try ImageLoader(configuration)
    var reader = FeedItemReader()
    let items = try reader.read(ArraySlice(Self.feed.utf8), isLast: true)
    #expect(items.count == 10)
    var output: [UInt8] = []
    loader.resolve(items, asLines: { output += $0 })
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    let expected = loader.resolve(items).map(\.json)
    #expect(lines.count == expected.count)
    for (line, expected) in zip(lines, expected) { #expect(line == expected) }
    #expect(items.map { loader.resolve($0).json } == expected)
  }

  @Test(arguments: [NetworkKind.wifi, .offline])
  func `lines report what is cached on disk and in memory`(network: NetworkKind) async throws {
    let server = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    let test = try TestLoader()
    for role in ["a", "b"] {
      _ = try await test.loader.load(try TestLoader.item(server, original: "/\(role)"))
    }
    test.network.become(network)
    let feed = ["a", "b", "c"].map { "{\"id\": \"\($0)\", \"originalImage\": \"\(server.url("/\($0)"))\"}\n" }
      .joined()
    var reader = FeedItemReader()
    let items = try reader.read(ArraySlice(feed.utf8), isLast: true)
    var output: [UInt8] = []
    test.loader.resolve(items, asLines: { output += $0 })
    let expected = test.loader.resolve(items).map { $0.json + "\n" }.joined()
    #expect(String(decoding: output, as: UTF8.self) == expected)
    #expect(test.loader.resolve(items).map(\.situation.original) == [.cached, .cached, .remote])
  }
}

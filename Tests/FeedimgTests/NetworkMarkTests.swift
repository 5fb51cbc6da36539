import FeedimgModel
import FoundationEssentials
import TestSystem
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Marks on networks, in a network namespace that lives as long as a test.
@Suite(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
struct NetworkMarkTests {
  /// The item that a long-lived loader resolves.
  private static let item = try? FeedItem(
    original: ImageVariant(role: .original, url: ImageURL("https://x.example/a.jpg")),
    thumbnail: ImageVariant(role: .thumbnail, url: ImageURL("https://x.example/b.jpg"))
  )

  private static func network() throws -> Namespace {
    let namespace = try Namespace()
    let isDone = namespace.tryCommands(
      """
      link add v0 type veth peer name p0
      link set p0 up
      link set v0 up
      addr add 192.0.2.2/24 dev v0
      route add default via 192.0.2.1
      """
    )
    return try #require(isDone ? namespace : nil)
  }

  private static func configuration(_ name: String) -> ImageLoader.Configuration {
    let folder = FileManager.default.temporaryDirectory.path + "/feedimg-\(name)-\(UUID().uuidString)"
    var configuration = ImageLoader.Configuration(environment: ["HOME": folder])
    configuration.policy = .named("metered")
    return configuration
  }

  @Test func `a long-lived loader sees a new mark at once`() throws {
    let (namespace, configuration) = (try Self.network(), Self.configuration("mark"))
    defer { try? FileManager.default.removeItem(atPath: configuration.environment["HOME"] ?? "") }
    let item = try #require(Self.item)
    let loader = try ImageLoader(configuration)
    let marks = try NetworkMarks(configuration)
    func image() -> ShownImage { namespace.run { loader.resolve(item).decision.image } }
    #expect(image() == .original)
    try marks.mark(.device("v0"), asMetered: true)
    #expect(image() == .thumbnail)
    // Frequent calls make the loader watch the file instead of reading it each time.
    for _ in 0..<300 { _ = image() }
    try marks.mark(.device("v0"), asMetered: false)
    #expect(image() == .original)
  }

  @Test(.timeLimit(.minutes(10)))
  func `subscribers hear of a new mark and of no other setting`() async throws {
    let (namespace, configuration) = (try Self.network(), Self.configuration("watch"))
    defer { try? FileManager.default.removeItem(atPath: configuration.environment["HOME"] ?? "") }
    let told = AsyncStream.makeStream(of: NetworkState.self)
    let network = NetworkStatus(configuration)
    let watching = namespace.run { network.watch { told.continuation.yield($0) } }
    var states = told.stream.makeAsyncIterator()
    #expect(await states.next()?.metered == .unknown)
    try Settings(configuration).set("cache-expiry-days", to: "9")
    try NetworkMarks(configuration).mark(.device("v0"), asMetered: true)
    #expect(await states.next()?.metered == .yes)
    watching?.cancel()
  }
}

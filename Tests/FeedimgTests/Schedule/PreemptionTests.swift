import FeedimgHTTPCache
import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Preempted and resumed slots, with libcurl and a real server.
@Suite(.timeLimit(.minutes(10))) struct PreemptionTests {
  private static let etag = [("Content-Type", "image/jpeg"), ("ETag", "\"v1\""), ("Accept-Ranges", "bytes")]

  /// The picture from the requested byte on.
  private static func rest(_ request: Request) -> Reply {
    guard let range = request["Range"], let start = Int(range.dropFirst("bytes=".count).dropLast()) else {
      return .response(200, etag, body: SampleImage.jpeg)
    }
    let whole = SampleImage.jpeg.count
    let part = [("Content-Range", "bytes \(start)-\(whole - 1)/\(whole)")]
    return .response(206, etag + part, body: Array(SampleImage.jpeg.dropFirst(start)))
  }

  @Test func `a visible image takes a slot, and the preempted downloads resume`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      if request.path.hasPrefix("/p"), request["Range"] == nil {
        return .stalled(SampleImage.jpeg, after: 100, until: gate, Self.etag)
      }
      return Self.rest(request)
    }
    let test = try TestLoader(.wifi, time: ManualTime().time)
    let arrived = RecordedValues<Int>()
    let prefetches = try (0..<4).map { number in
      let item = try TestLoader.item(server, original: "/p\(number)")
      return Task {
        try await test.loader.load(item, priority: .prefetch) { _ in arrived.add(number) }
      }
    }
    while Set(arrived.all).count < 4 { await Task.yield() }
    let visible = try await test.loader.load(try TestLoader.item(server, original: "/v"))
    #expect(visible.bytes == SampleImage.jpeg)
    // Two downloads are preempted. The rest keeps half of the slots of a link of unknown speed.
    await server.reaches { $0.requests.count >= 6 }
    gate.open()
    for prefetch in prefetches { #expect(try await prefetch.value.bytes == SampleImage.jpeg) }
    let ranges = server.log.requests.compactMap { $0["Range"] }
    #expect(!ranges.isEmpty && ranges.allSatisfy { $0 == "bytes=100-" })
    #expect(server.log.requests.filter { $0["Range"] != nil }.allSatisfy { $0["If-Range"] == "\"v1\"" })
  }

  @Test func `a resumed download can be preempted again and resumes after its last byte`() async throws {
    let picture = PictureOrigin.picture(1, size: 4000)
    let gate = Gate()
    /// The picture from a byte on, or its first bytes.
    @Sendable func part(from start: Int, _ count: Int = .max) -> [UInt8] {
      let rest = picture.dropFirst(start)
      let range = [("Content-Range", "bytes \(start)-3999/4000"), ("Content-Length", "\(rest.count)")]
      return Reply.head(start == 0 ? 200 : 206, Self.etag + (start == 0 ? [range[1]] : range))
        + rest.prefix(count)
    }
    let server = try LoopbackServer { request in
      switch (request.path.first { $0 == "v" }, request["Range"]) {
      case (nil, nil): Reply([.send(part(from: 0, 1000))])
      case (nil, "bytes=1000-"): Reply([.send(part(from: 1000, 500)), .wait(gate)])
      case (nil, _): Reply([.send(part(from: 1500))], keepsConnection: true)
      default: Reply([.send(part(from: 0))], keepsConnection: true)
      }
    }
    let test = try TestLoader(.wifi, time: ManualTime().time)
    let items = try (0..<4).map { try TestLoader.item(server, original: "/p\($0)") }
    for item in items { await #expect(throws: LoadError.self) { try await test.loader.load(item) } }
    let arrived = RecordedValues<Int>()
    let prefetches = items.enumerated().map { number, item in
      Task {
        try await test.loader.load(item, priority: .prefetch) {
          if $0.received.bytes == 1500 { arrived.add(number) }
        }
      }
    }
    while Set(arrived.all).count < 4 { await Task.yield() }
    #expect(try await test.loader.load(try TestLoader.item(server, original: "/v")).bytes == picture)
    await server.reaches { log in log.requests.contains { $0["Range"] == "bytes=1500-" } }
    gate.open()
    for prefetch in prefetches { _ = await prefetch.result }
    for item in items { #expect(try await test.loader.load(item).bytes == picture) }
    #expect(server.log.requests.filter { $0["Range"] != nil }.allSatisfy { $0["If-Range"] == "\"v1\"" })
  }

  @Test func `a request that is preempted before its response is sent again`() async throws {
    let gate = Gate()
    let plain = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    let asked = RecordedValues<String>()
    let server = try LoopbackServer { request in
      let isFirst = !asked.all.contains(request.path)
      asked.add(request.path)
      return request.path.hasPrefix("/p") && isFirst ? .held(by: gate, then: plain) : plain
    }
    let test = try TestLoader(.wifi, time: ManualTime().time)
    let items = try (0..<4).map { try TestLoader.item(server, original: "/p\($0)") }
    let prefetches = items.map { item in
      Task { try await test.loader.load(item, priority: .prefetch) }
    }
    await server.reaches { $0.requests.count == 4 }
    let visible = Task { try await test.loader.load(try TestLoader.item(server, original: "/v")) }
    // Two of the responses belong to preempted requests.
    gate.open()
    #expect(try await visible.value.bytes == SampleImage.jpeg)
    for prefetch in prefetches { #expect(try await prefetch.value.bytes == SampleImage.jpeg) }
    for item in items {
      let key = try #require(item.original?.url.key)
      #expect(test.loader.resources.storage.store.read(key)?.bytes == SampleImage.jpeg)
    }
    #expect(server.log.requests.allSatisfy { $0["Range"] == nil })
  }

  @Test func `a prefetch that becomes visible moves up`() async throws {
    let gate = Gate()
    let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    let server = try LoopbackServer { $0.path.hasPrefix("/busy") ? .held(by: gate, then: picture) : picture }
    let test = try TestLoader(.cellular, tries: 1)
    try test.settings.set(.alwaysLoadOriginalsOnCellular, to: "yes")
    let busy = try (0..<2).map { number in
      let item = try TestLoader.item(server, original: "/busy\(number)")
      return Task { try await test.loader.load(item) }
    }
    await server.reaches { $0.requests.count == 2 }
    let items = try (0..<3).map { try TestLoader.item(server, original: "/p\($0)") }
    let prefetches = items.map { item in
      Task { try await test.loader.load(item, priority: .prefetch) }
    }
    for item in items {
      let key = try #require(item.original?.url.key)
      while test.loader.resources.loads.coalescer.count(of: key) < 1 { await Task.yield() }
    }
    let seen = Task { try await test.loader.load(items[2]) }
    let key = try #require(items[2].original?.url.key)
    while test.loader.resources.loads.coalescer.count(of: key) < 2 { await Task.yield() }
    await test.loader.resources.transport.scheduler.settle()
    gate.open()
    _ = try await seen.value
    for prefetch in prefetches { _ = try await prefetch.value }
    for task in busy { _ = try await task.value }
    #expect(server.log.requests.dropFirst(2).first?.path == "/p2")
    #expect(server.log.requests.count == 5)
  }
}

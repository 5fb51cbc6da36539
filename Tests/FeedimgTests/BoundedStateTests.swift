import FeedimgHTTPCache
import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The state of a loader for past items, except its caches, is empty or bounded.
@Suite(.timeLimit(.minutes(10))) struct BoundedStateTests {
  /// Has a picture for one URL in ten and fails the others in two ways.
  private struct MostlyFailingDownloader: Downloading {
    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let number = request.url.text.split(separator: "/").last.flatMap { Int($0) } ?? 0
      guard number % 10 < 9 else { throw LoadError(.connection, url: request.url, message: "refused") }
      let status = number % 10 == 0 ? 200 : 404
      let fields = HTTPFields([.init(name: "Content-Type", value: "image/jpeg")])
      let head = ResponseHead(status: status, fields: fields, url: request.url)
      try receiver.begin(head)
      let result = [0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xD9].withUnsafeBytes {
        bytes in
        Result { () throws(LoadError) in try receiver.receive(bytes) }
      }
      try result.get()
      return head
    }
  }

  /// An item of one of seven hundred hosts, which has no influence on the network state.
  private func item(_ number: Int) throws -> FeedItem {
    let host = "127.0.\(number % 700 / 250).\(number % 700 % 250 + 1)"
    return FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL("http://\(host)/\(number)")),
      thumbnail: nil
    )
  }

  @Test func `the state for thousands of items is bounded`() async throws {
    let test = try TestLoader(memoryLimit: ByteCount(100_000), downloader: MostlyFailingDownloader())
    let loader = test.loader
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for number in stride(from: worker, to: 4000, by: 8) {
            guard let item = try? item(number) else { continue }
            _ = try? await loader.load(item)
          }
        }
      }
    }
    #expect(loader.resources.loads.coalescer.isIdle, "no load leaves state behind")
    let isIdle = await loader.resources.transport.scheduler.isIdle
    #expect(isIdle, "nor does a transfer")
    #expect(await loader.resources.factMonitor.listenerCount == 0)
    #expect(await loader.resources.loads.revalidator.requestCount == 0)
    // At most 2,048 URLs and 512 hosts, of 3,200 and 700 that failed.
    let count = await loader.resources.transport.retries.recordCount
    #expect((1...2560).contains(count), "\(count)")
    #expect(loader.resources.storage.memory.encoded.size <= ByteCount(100_000))
  }

  @Test func `released slots leave nothing behind`() async throws {
    let test = try TestLoader(downloader: MostlyFailingDownloader())
    for number in 0..<200 {
      let slot = test.loader.slot()
      slot.show(try item(number))
      if number % 3 == 0 {
        for await presentation in slot.presentations where !presentation.isLoading { break }
      }
    }
    // An abandoned load is forgotten at once. Its transfer releases its place when it ends.
    let loader = test.loader
    while await !Self.isIdle(loader) {
      await Task.yield()
    }
  }

  @PipelineActor private static func isIdle(_ loader: ImageLoader) -> Bool {
    loader.resources.loads.coalescer.isIdle && loader.resources.transport.scheduler.isIdle
      && loader.resources.factMonitor.listenerCount == 0
  }
}

import FeedimgModel
import LoopbackServer
import Testing

@testable import FeedimgTransfer

/// Tasks that run on the transfer thread.
@Suite(.timeLimit(.minutes(10)))
struct ExecutorTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  @Test func `a task stays on the transfer thread, also between transfers`() async throws {
    let server = try LoopbackServer { _ in .response() }
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let names = ThreadNames()
    let task = Task(executorPreference: downloader.executor) { [downloader] in
      for _ in 0..<3 {
        names.note()
        await Task.yield()
        _ = try await downloader.download(request, into: Collector())
      }
      names.note()
    }
    try await task.value
    #expect(names.names == Array(repeating: "feedimg-curl", count: 4))
  }

  @Test func `tasks that never pause do not block transfers`() async throws {
    let server = try LoopbackServer { _ in .response(body: pattern(100_000)) }
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let restless = Task(executorPreference: downloader.executor) {
      while !Task.isCancelled { await Task.yield() }
    }
    let collector = Collector()
    _ = try await downloader.download(request, into: collector)
    #expect(collector.bytes == pattern(100_000))
    restless.cancel()
    await restless.value
  }

  @Test func `tasks continue elsewhere when the thread has ended`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate) }
    // On a busy machine all ten may take longer than the usual limit for a response.
    let request = DownloadRequest(url: try ImageURL(server.url("/")), responseTimeout: .seconds(600))
    let tasks = (0..<10).map { _ in
      Task(executorPreference: downloader.executor) { [downloader] in
        let first = await downloader.failure(request)
        return [first, await downloader.failure(request)].map { $0?.code }
      }
    }
    await server.reaches { $0.requests.count == 10 }
    await downloader.shutdown()
    for task in tasks { #expect(await task.value == [.cancelled, .cancelled]) }
    let names = ThreadNames()
    await Task(executorPreference: downloader.executor) { names.note() }.value
    #expect(names.names.first != "feedimg-curl")
    #expect(names.names.count == 1)
  }

  @Test func `tasks run even if libcurl is missing`() async throws {
    let names = ["libno-such-thing.so.4"]
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1", certificateFile: nil, libraryNames: names)
    let request = DownloadRequest(url: try ImageURL("http://127.0.0.1:9/"))
    let task = Task(executorPreference: downloader.executor) { await downloader.failure(request)?.code }
    #expect(await task.value == .unavailable)
  }
}

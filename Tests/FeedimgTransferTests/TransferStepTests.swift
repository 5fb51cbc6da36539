import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Synchronization
import Testing

/// The steps that a transfer reports beside the response.
@Suite(.timeLimit(.minutes(10)))
struct TransferStepTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  /// Keeps the steps, and may refuse the body.
  private final class Steps: BodyReceiving {
    private let steps = Mutex<[TransferStep]>([])
    /// Whether a part of the body has come.
    let hasBody = Atomic(false)
    private let onHead: @Sendable () throws(LoadError) -> Void
    private let onBody: @Sendable () throws(LoadError) -> Void

    init(
      onHead: @escaping @Sendable () throws(LoadError) -> Void = {},
      onBody: @escaping @Sendable () throws(LoadError) -> Void = {}
    ) {
      (self.onHead, self.onBody) = (onHead, onBody)
    }

    func begin(_ head: ResponseHead) throws(LoadError) { try onHead() }
    func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
      hasBody.store(true, ordering: .sequentiallyConsistent)
      try onBody()
    }
    func note(_ step: TransferStep) { steps.withLock { $0.append(step) } }

    /// The sum of the reported bytes.
    var moved: Int {
      steps.withLock { steps in
        steps.reduce(0) { if case .moved(let count) = $1 { $0 + count } else { $0 } }
      }
    }

    /// The other steps.
    var others: [TransferStep] {
      steps.withLock { $0.filter { if case .moved = $0 { false } else { true } } }
    }
  }

  /// The bytes that a reply sends.
  private static func length(_ reply: Reply) -> Int {
    reply.steps.reduce(0) { if case .send(let bytes) = $1 { $0 + bytes.count } else { $0 } }
  }

  @Test(arguments: [0, 1, 12_000, 300_000])
  func `every byte of head and body is reported`(_ count: Int) async throws {
    let reply = Reply.response(200, [("X-Filler", String(repeating: "x", count: 500))], body: pattern(count))
    let server = try LoopbackServer { _ in reply }
    let steps = Steps()
    _ = try await downloader.download(DownloadRequest(url: try ImageURL(server.url("/"))), into: steps)
    #expect(steps.moved == Self.length(reply))
    #expect(steps.others == [.requested])
  }

  @Test func `a response without a body counts`() async throws {
    let reply = Reply.response(404, body: pattern(700))
    let server = try LoopbackServer { _ in reply }
    let steps = Steps()
    _ = try await downloader.download(DownloadRequest(url: try ImageURL(server.url("/"))), into: steps)
    #expect(steps.moved == Self.length(reply))
  }

  @Test func `redirects are reported, and their bytes count too`() async throws {
    let first = Reply.response(302, [("Location", "/b")], body: pattern(900))
    let second = Reply.response(body: pattern(5000))
    let server = try LoopbackServer { $0.path == "/a" ? first : second }
    let steps = Steps()
    _ = try await downloader.download(DownloadRequest(url: try ImageURL(server.url("/a"))), into: steps)
    #expect(steps.moved == Self.length(first) + Self.length(second))
    #expect(steps.others == [.requested, .redirected(try ImageURL(server.url("/b"))), .requested])
  }

  @Test func `an interrupted body counts its received bytes`() async throws {
    let server = try LoopbackServer { _ in .truncated(pattern(5000), after: 1234) }
    let steps = Steps()
    let failure = await downloader.failure(
      DownloadRequest(url: try ImageURL(server.url("/"))),
      into: steps
    )
    #expect(failure?.code == .truncated)
    #expect(steps.moved > 1234 && steps.moved < 1234 + 500)
  }

  @Test func `a refused or cancelled transfer counts its received bytes`() async throws {
    let gate = Gate()
    let head = Reply.head(200, [("Content-Length", "9000")])
    let server = try LoopbackServer { _ in Reply([.send(head + pattern(4000)), .wait(gate)]) }
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    let refused = Steps(onBody: { () throws(LoadError) in throw LoadError(.notAnImage, message: "no") })
    #expect(await downloader.failure(request, into: refused)?.code == .notAnImage)
    #expect(refused.moved > head.count)

    let begun = Mutex<Task<LoadError?, Never>?>(nil)
    let cancelled = Steps(onBody: { begun.withLock { $0 }?.cancel() })
    let task = Task { await downloader.failure(request, into: cancelled) }
    begun.withLock { $0 = task }
    // The body may have come before the task was stored.
    if cancelled.hasBody.load(ordering: .sequentiallyConsistent) { task.cancel() }
    let code = await task.value?.code
    #expect(code == .cancelled)
    #expect(cancelled.moved > head.count)
    gate.open()
  }

  @Test func `the body of a refused response counts, on a new and on a reused connection`() async throws {
    let reply = Reply.response(404, body: pattern(30_000))
    let server = try LoopbackServer { _ in reply }
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    for _ in 0..<2 {
      // Opens the connection that the refused transfer uses.
      let whole = Steps()
      _ = try await downloader.download(request, into: whole)
      #expect(whole.moved == Self.length(reply))
      let refused = Steps(onHead: { () throws(LoadError) in throw LoadError(.status, message: "no") })
      #expect(await downloader.failure(request, into: refused)?.code == .status)
      #expect(refused.moved == Self.length(reply))
      let refusedAgain = Steps(onHead: { () throws(LoadError) in throw LoadError(.status, message: "no") })
      #expect(await downloader.failure(request, into: refusedAgain)?.code == .status)
      #expect(refusedAgain.moved == Self.length(reply))
    }
  }

  @Test func `an unreachable server counts nothing`() async throws {
    let port = try ClosedPort()
    let steps = Steps()
    let url = try ImageURL("http://127.0.0.1:\(port.port)/")
    #expect(await downloader.failure(DownloadRequest(url: url), into: steps) != nil)
    #expect(steps.moved == 0 && steps.others.isEmpty)
  }
}

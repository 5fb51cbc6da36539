import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Responses that are forwarded as they are.
@Suite(.timeLimit(.minutes(10))) struct ForwardedResponseTests {
  /// Sends a body faster than anyone reads it, until the receiver refuses more.
  private struct EndlessDownloader: Downloading {
    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let head = ResponseHead(status: 200, fields: HTTPFields(), url: request.url)
      try receiver.begin(head)
      let bytes = [UInt8](repeating: 1, count: 1 << 18)
      for _ in 0..<64 { try receiver.receive(bytes[...]) }
      return head
    }
  }

  @Test func `a body that a slow reader leaves in memory ends at the limit`() async throws {
    let test = try TestLoader(downloader: EndlessDownloader())
    let request = DownloadRequest(url: try ImageURL("http://a.example/events"), bodyLimit: .mebibytes(4))
    let response = try await test.loader.forward(request)
    defer { response.leave() }
    let error = await #expect(throws: LoadError.self) {
      var count = 0
      while let chunk = try await response.body.chunk(at: count) { count += chunk.count }
    }
    #expect(error?.message == "too many long bodies arrive at the same time")
  }
}

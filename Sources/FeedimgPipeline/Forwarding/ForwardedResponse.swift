package import FeedimgModel
import FeedimgSystem

/// The response to a request that was forwarded as it is, past the cache and the policy.
package struct ForwardedResponse: Sendable {
  package let head: ResponseHead
  /// The body, which is interrupted if the transfer fails.
  package let body: ResponseStream
  /// Stops the transfer; to be called when the body has ended or is no longer read.
  package let leave: @Sendable () -> Void
}

extension ImageLoader {
  /// Forwards a request of any method, and returns as soon as the head of the response has arrived.
  ///
  /// Redirects are returned, not followed. The bytes do not count as usage.
  ///
  /// - Throws: ``LoadError`` if no head arrives.
  package func forward(_ request: DownloadRequest) async throws(LoadError) -> ForwardedResponse {
    // The memory counts until the reader leaves, because it may read long after the transfer has ended.
    let (body, memory) = (ResponseStream(), BodyMemory(.gateway))
    let (first, leave) = await Promise<Result<ResponseHead, LoadError>>.of {
      [downloader = resources.transport.downloader] promise in
      let receiver = ForwardedBody(request: request, body: body, memory: memory, promise: promise)
      do throws(LoadError) {
        promise.resolve(.success(try await downloader.download(request, into: receiver)))
        body.end()
      } catch {
        promise.resolve(.failure(error))
        body.end(error)
      }
    }
    return ForwardedResponse(
      head: try first.get(),
      body: body,
      leave: { withExtendedLifetime(memory, leave) }
    )
  }

  /// Connects to the server of a URL for a WebSocket; see ``Downloading/connect(to:within:)``.
  package func connect(to url: ImageURL, within limit: Duration) async throws(LoadError) -> Int32 {
    try await resources.transport.downloader.connect(to: url, within: limit)
  }
}

/// Hands the head and the body of a forwarded request on as they arrive.
private struct ForwardedBody: BodyReceiving {
  /// The most bytes that long bodies may hold together, so that slow readers cannot take all memory.
  private static let maximumHeld = 256 << 20

  let request: DownloadRequest
  let body: ResponseStream
  let memory: BodyMemory
  let promise: Promise<Result<ResponseHead, LoadError>>

  func begin(_ head: ResponseHead) throws(LoadError) {
    guard body.count == 0 else {
      throw LoadError(.malformed, message: "the response began twice")
    }
    promise.resolve(.success(head))
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    body.append(bytes, at: body.count)
    let held = body.heldCount
    let isLong = held > BodyMemory.uncounted
    let fits = memory.hold(isLong ? held : 0, limit: min(request.bodyLimit.bytes, Self.maximumHeld))
    guard !isLong || fits else { throw BodyMemory.shortage(request.url) }
  }
}

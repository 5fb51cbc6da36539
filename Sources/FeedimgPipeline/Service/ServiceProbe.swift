import FeedimgModel

/// A request that checks whether the service responds.
struct ServiceProbe: Sendable {
  let socket: String
  let downloader: any Downloading
  /// The longest wait for a response; a service that takes longer counts as hung.
  let timeout: Duration

  /// Sends the request once.
  ///
  /// - Returns: The error if the service did not respond; nil after any response.
  func perform() async -> LoadError? {
    guard let url = try? ImageURL("http://localhost/healthz") else { return nil }
    do throws(LoadError) {
      _ = try await downloader.download(request(of: url), into: IgnoringReceiver())
      return nil
    } catch {
      return error
    }
  }

  /// A request that the service can handle at once, from its own state.
  func request(of url: ImageURL) -> DownloadRequest {
    var request = DownloadRequest(
      url: url,
      bodyLimit: ByteCount(1 << 16),
      connectTimeout: timeout,
      responseTimeout: timeout,
      stallTimeout: timeout
    )
    request.socket = socket
    return request
  }
}

struct IgnoringReceiver: BodyReceiving {
  func begin(_ head: ResponseHead) throws(LoadError) {}
  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {}
}

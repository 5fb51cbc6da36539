import FeedimgModel

/// The question whether the service answers at all.
struct ServiceGreeting: Sendable {
  let socket: String
  let downloader: any Downloading
  /// Who does not say by then that it is there, hangs.
  let timeout: Duration

  /// Asks once.
  ///
  /// - Returns: Why nobody answered; nil where somebody did, whatever was said.
  func perform() async -> LoadError? {
    guard let url = try? ImageURL("http://localhost/healthz") else { return nil }
    do throws(LoadError) {
      _ = try await downloader.download(request(of: url), into: NoReceiver())
      return nil
    } catch {
      return error
    }
  }

  /// A request for what the service knows of itself, and so answers at once.
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

/// Takes what nobody needs.
struct NoReceiver: BodyReceiving {
  func begin(_ head: ResponseHead) throws(LoadError) {}
  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {}
}

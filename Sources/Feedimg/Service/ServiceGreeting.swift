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
    var request = DownloadRequest(
      url: url,
      bodyLimit: ByteCount(1 << 16),
      connectTimeout: timeout,
      answerTimeout: timeout,
      stallTimeout: timeout
    )
    request.socket = socket
    do throws(LoadError) {
      _ = try await downloader.download(request, into: NoReceiver())
      return nil
    } catch {
      return error
    }
  }
}

/// Takes what nobody needs.
struct NoReceiver: BodyReceiving {
  func begin(_ head: ResponseHead) throws(LoadError) {}
  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {}
}

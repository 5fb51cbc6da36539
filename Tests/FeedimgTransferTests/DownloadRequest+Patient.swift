import FeedimgModel

extension DownloadRequest {
  /// A request without short limits, for a transfer that a test holds up on a busy machine.
  static func patient(_ url: ImageURL) -> DownloadRequest {
    DownloadRequest(url: url, responseTimeout: .seconds(600), stallTimeout: .seconds(600))
  }
}

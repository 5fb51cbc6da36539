import FeedimgModel

extension DownloadRequest {
  /// For a transfer that a test holds up while others take the processor: its own limits are not what is tested.
  static func patient(_ url: ImageURL) -> DownloadRequest {
    DownloadRequest(url: url, answerTimeout: .seconds(600), stallTimeout: .seconds(600))
  }
}

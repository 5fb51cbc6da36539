import FeedimgModel

@testable import FeedimgPipeline

extension RetryController {
  /// Performs a load whose failures have the key of its URL.
  func perform<Value>(
    _ url: ImageURL,
    _ attempt: (Attempt) async throws(LoadError) -> Value
  ) async throws(LoadError) -> Value {
    try await perform(url, key: url.key, attempt)
  }
}

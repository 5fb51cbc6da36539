import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem

/// The response to a request with or without validators.
enum ValidationResult<New: Sendable>: Sendable {
  case new(New)
  /// A 304; after a validation, the stored response with the fields of the 304.
  case notModified(StoredResponse)
}

extension LoaderResources {
  /// Asks the server whether a stored response is still valid (RFC 9111 §4.3), for images and `GET /v1/fetch`.
  ///
  /// - Parameters:
  ///   - key: The key of the stored response in the cache.
  ///   - stored: The stored response.
  ///   - size: The size of its body in bytes.
  ///   - send: Sends the request with the given validators.
  /// - Returns: The new response; or the stored one, updated by a 304.
  /// - Throws: The failure of the request.
  @PipelineActor func validate<New: Sendable>(
    _ key: String,
    _ stored: StoredResponse,
    size: Int,
    send: @PipelineActor (HTTPFields) async throws(LoadError) -> ValidationResult<New>
  ) async throws(LoadError) -> ValidationResult<New> {
    let response = try await send(Validators(of: stored).conditions)
    guard case .notModified(let notModified) = response else { return response }
    if let updated = await update(key, stored, by: notModified, size: size) {
      return .notModified(updated)
    }
    // The 304 is about another version than the stored one (RFC 9111 §4.3.4): request the whole response.
    return .new(try await send(HTTPFields()).unconditional(stored.head.url))
  }

  /// Updates a stored response from a 304, or from a response to HEAD, on disk and in memory.
  ///
  /// - Returns: The updated response, which the server may forbid to store; nil if the response is about another version.
  func update(
    _ key: String,
    _ stored: StoredResponse,
    by response: StoredResponse,
    size: Int
  ) async -> StoredResponse? {
    guard let updated = stored.validated(by: response, size: size) else { return nil }
    guard storageAllowed(head: updated.head) else {
      await forget(key)
      return updated
    }
    // An update that cannot be written costs another validation later.
    await storage.writes.run { [store = storage.store] in
      _ = try? store.refresh(key, validating: stored, response: response)
    }
    storage.memory.update(key, from: stored, to: updated)
    return updated
  }

  /// Removes an image that must no longer be kept.
  func forget(_ key: String) async {
    // If the removal fails, the next response forbids storage again.
    await storage.writes.run { [store = storage.store] in _ = try? store.remove(key) }
    // Memory comes last, so that no load copies the image from disk to memory again.
    storage.memory.remove(key)
  }
}

extension ValidationResult {
  /// The new response to a request for a URL without validators.
  ///
  /// - Throws: `malformed` for a 304, which the server must not send then (RFC 9110 §15.4.5).
  func unconditional(_ url: ImageURL) throws(LoadError) -> New {
    guard case .new(let new) = self else {
      throw LoadError(.malformed, url: url, message: "unexpected 304 for an unconditional request")
    }
    return new
  }
}

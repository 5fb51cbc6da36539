extension Result {
  /// Performs the body, and returns its value or its error.
  package static func of(_ body: () async throws(Failure) -> Success) async -> Self {
    do throws(Failure) {
      return .success(try await body())
    } catch {
      return .failure(error)
    }
  }
}

extension Task where Failure == Never {
  /// The value; cancelling the waiting task also cancels this one.
  package var cancellableValue: Success {
    get async {
      await withTaskCancellationHandler {
        await value
      } onCancel: {
        cancel()
      }
    }
  }
}

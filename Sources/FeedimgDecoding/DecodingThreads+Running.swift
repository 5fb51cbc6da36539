import FeedimgModel

extension DecodingThreads {
  /// Runs the body on one of the threads; cancellation stops it, or removes it from the queue.
  func run<Value: Sendable>(
    _ stop: StopSign,
    _ body: @escaping @Sendable () throws(DecodeError) -> Value
  ) async throws(DecodeError) -> Value {
    let number = nextNumber()
    let result: Result<Value, DecodeError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(
          { isGivenUp in
            guard !isGivenUp else { return continuation.resume(returning: .failure(Self.givenUp)) }
            do throws(DecodeError) {
              continuation.resume(returning: .success(try body()))
            } catch {
              continuation.resume(returning: .failure(error))
            }
          },
          number: number
        )
        // A cancellation before `submit` found no job to give up.
        if Task.isCancelled { giveUp(number) }
      }
    } onCancel: {
      stop.set()
      giveUp(number)
    }
    return try result.get()
  }

  private static let givenUp = DecodeError(
    .cancelled,
    "decoding was cancelled, or no thread could be started"
  )
}

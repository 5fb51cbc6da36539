import FeedimgModel

extension DecodingThreads {
  /// Runs the body on one of the threads; cancellation stops it, or removes it from the queue.
  func run<Answer: Sendable>(
    _ stop: StopSign,
    _ body: @escaping @Sendable () throws(DecodeError) -> Answer
  ) async throws(DecodeError) -> Answer {
    let number = nextNumber()
    let result: Result<Answer, DecodeError> = await withTaskCancellationHandler {
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

package import FeedimgModel
import Synchronization

/// A body that arrives while readers read it, each at its own pace.
///
/// A slow reader never delays the others. Bytes that are in a file as well stay in memory only for readers that keep up; a
/// slower one reads the file.
package final class ResponseStream: Sendable {
  fileprivate struct State {
    /// One behind the other, up to ``count``.
    var chunks: [[UInt8]] = []
    /// Where the first of them begins; what is before can be read again.
    var start = 0
    var count = 0
    var written: (any WrittenReading)?
    var end: Result<Void, LoadError>?
    var waiters: [Int: Waiter] = [:]
    var issued = 0
  }

  fileprivate struct Waiter {
    var position: Int
    var continuation: CheckedContinuation<Void, Never>
  }

  /// Guards what has come; who waits is resumed outside.
  private let state = Mutex(State())

  package init() {}

  /// How much of what can be read again is held, in bytes; who is further behind reads the file.
  package static let window = 1 << 20
  /// How much of the file is read at once, in bytes.
  private static let step = 64 << 10

  /// How many bytes have come.
  package var count: Int { state.withLock { $0.count } }

  /// How many of them are held in memory.
  package var heldCount: Int { state.withLock { $0.count - $0.start } }

  /// Adds bytes, of which those before ``count`` are known already.
  ///
  /// - Parameters:
  ///   - bytes: Gone after the call.
  ///   - position: Where in the body they stand; never behind its end.
  func append(_ bytes: UnsafeRawBufferPointer, at position: Int) {
    resume {
      guard $0.end == nil, position <= $0.count, position + bytes.count > $0.count else { return }
      let fresh = UnsafeRawBufferPointer(rebasing: bytes[($0.count - position)...])
      $0.chunks.append(Array(fresh))
      $0.count += fresh.count
    }
  }

  /// Tells where what has come can be read again, so that less of it needs to be held.
  ///
  /// - Parameters:
  ///   - written: Where; may change, as another transfer goes on with the body.
  ///   - count: How many bytes are there, from the first one on.
  func note(_ written: any WrittenReading, holding count: Int) {
    let gone = state.withLock { state in
      // Else there would be a gap.
      guard count >= state.start else { return [[UInt8]]() }
      state.written = written
      var (start, number) = (state.start, 0)
      while number < state.chunks.count, state.count - start > Self.window,
        start + state.chunks[number].count <= count
      {
        start += state.chunks[number].count
        number += 1
      }
      defer { state.chunks.removeFirst(number) }
      state.start = start
      return Array(state.chunks[..<number])
    }
    // Freed outside of the lock.
    withExtendedLifetime(gone) {}
  }

  /// Ends the body; only the first end counts.
  ///
  /// - Parameter error: Why it is not whole; nil where it is.
  func end(_ error: LoadError? = nil) {
    resume { state in
      if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
    }
  }

  /// The next part; waits for it.
  ///
  /// - Parameter position: Where in the body it begins.
  /// - Returns: Never empty; nil at the end.
  /// - Throws: ``LoadError`` where the body breaks off; `cancelled` where the task was.
  package func chunk(at position: Int) async throws(LoadError) -> ArraySlice<UInt8>? {
    while true {
      let (chunk, end, written) = state.withLock { state in
        let written = position < state.start ? state.written : nil
        return (state.chunk(at: position), state.end, written.map { ($0, state.start - position) })
      }
      if let chunk { return chunk }
      if let (written, left) = written {
        guard let bytes = written.bytes(at: position, count: min(left, Self.step)) else {
          throw LoadError(.truncated, message: "what has come of the body cannot be read again")
        }
        return bytes[...]
      }
      if let end {
        try end.get()
        return nil
      }
      guard !Task.isCancelled else { throw LoadError(.cancelled, message: "cancelled") }
      await arrival(at: position)
    }
  }

  /// Returns when there is news, or the task is cancelled.
  private func arrival(at position: Int) async {
    let number = state.withLock { state in
      state.issued += 1
      return state.issued
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isNeedless = state.withLock { state in
          guard state.count <= position, state.end == nil, !Task.isCancelled else { return true }
          state.waiters[number] = Waiter(position: position, continuation: continuation)
          return false
        }
        if isNeedless { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume()
    }
  }

  private func resume(after change: (inout State) -> Void) {
    let ready = state.withLock { state in
      change(&state)
      let isEnded = state.end != nil
      let ready = state.waiters.filter { isEnded || $0.value.position < state.count }
      for number in ready.keys { state.waiters[number] = nil }
      return ready
    }
    for waiter in ready.values { waiter.continuation.resume() }
  }
}

extension ResponseStream.State {
  /// What is held from a position on, to the end of the chunk that it is in.
  fileprivate func chunk(at position: Int) -> ArraySlice<UInt8>? {
    guard (start..<count).contains(position) else { return nil }
    // Most read what has come last.
    var end = count
    for chunk in chunks.reversed() {
      end -= chunk.count
      if position >= end { return chunk[(position - end)...] }
    }
    return nil
  }
}

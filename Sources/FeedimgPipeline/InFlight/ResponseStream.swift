package import FeedimgModel
import FeedimgSystem
import Synchronization

/// A body that several readers read while it arrives, each at its own pace.
///
/// A slow reader never delays the others. Memory holds the bytes that readers close to the end need; slower
/// readers read earlier bytes from the file.
package final class ResponseStream: Sendable {
  fileprivate struct State {
    /// Consecutive parts of the body, up to ``count``.
    var chunks: [[UInt8]] = []
    /// The position of the first chunk; readers find earlier bytes in the file.
    var start = 0
    var count = 0
    var written: (any WrittenReading)?
    var end: Result<Void, LoadError>?

    /// Removes the chunks before a position.
    ///
    /// - Parameters:
    ///   - position: The end of the bytes that may be removed.
    ///   - window: The number of bytes to keep at the end of the body.
    /// - Returns: The chunks, to be freed outside the lock.
    mutating func removeChunks(before position: Int, keeping window: Int) -> [[UInt8]] {
      var number = 0
      while number < chunks.count, count - start > window, start + chunks[number].count <= position {
        start += chunks[number].count
        number += 1
      }
      defer { chunks.removeFirst(number) }
      return Array(chunks[..<number])
    }

    /// Removes chunks from the end of the body.
    ///
    /// - Returns: The chunks, to be freed outside the lock.
    mutating func removeLastChunks(keeping window: Int) -> [[UInt8]] {
      var gone: [[UInt8]] = []
      while count - start > window, let chunk = chunks.popLast() {
        count -= chunk.count
        gone.append(chunk)
      }
      return gone
    }
  }

  private let state = Mutex(State())
  /// The readers that wait for more bytes.
  private let readers = Waiters<Void>()

  package init() {}

  /// The number of bytes to hold in memory once the file has them.
  package static let window = 1 << 20
  /// The number of bytes to read from the file at once.
  private static let step = 64 << 10

  /// The number of bytes received so far.
  package var count: Int { state.withLock { $0.count } }

  /// The number of bytes held in memory.
  package var heldCount: Int { state.withLock { $0.count - $0.start } }

  /// Appends bytes; those before ``count`` are skipped.
  ///
  /// - Parameters:
  ///   - bytes: Valid only during the call.
  ///   - position: Their position in the body, at most ``count``.
  func append(_ bytes: UnsafeRawBufferPointer, at position: Int) {
    state.withLock {
      guard $0.end == nil, position <= $0.count, position + bytes.count > $0.count else { return }
      let fresh = UnsafeRawBufferPointer(rebasing: bytes[($0.count - position)...])
      $0.chunks.append(Array(fresh))
      $0.count += fresh.count
    }
    readers.resumeAll()
  }

  /// Sets the file from which readers can read earlier bytes, so that memory holds fewer.
  ///
  /// - Parameters:
  ///   - written: The file; it changes if another transfer continues the body.
  ///   - count: The number of bytes in the file, from the start of the body.
  func note(_ written: any WrittenReading, holding count: Int) {
    let gone = state.withLock { state in
      // A shorter file would leave a gap.
      guard count >= state.start else { return [[UInt8]]() }
      state.written = written
      return state.removeChunks(before: count, keeping: Self.window)
    }
    withExtendedLifetime(gone) {}
  }

  /// Drops chunks of which no reader needs a byte any more.
  package func drop(before position: Int) {
    let gone = state.withLock { $0.removeChunks(before: position, keeping: 0) }
    withExtendedLifetime(gone) {}
  }

  /// Ends the body; only the first call counts.
  ///
  /// - Parameter error: Why the body is incomplete; nil if it is complete.
  func end(_ error: LoadError? = nil) {
    let gone = state.withLock { state in
      guard state.end == nil else { return [[UInt8]]() }
      state.end = error.map { .failure($0) } ?? .success(())
      // The unread rest of an interrupted body is not worth its memory.
      return error == nil ? [] : state.removeLastChunks(keeping: Self.window)
    }
    withExtendedLifetime(gone) {}
    readers.resumeAll()
  }

  /// Waits for the next chunk of the body.
  ///
  /// - Returns: A chunk, which is never empty; nil at the end.
  /// - Throws: ``LoadError`` if the body is interrupted, with `cancelled` if the task is cancelled.
  package func chunk(at position: Int) async throws(LoadError) -> ArraySlice<UInt8>? {
    while true {
      let (chunk, end, written) = state.withLock { state in
        let written = position < state.start ? state.written : nil
        return (state.chunk(at: position), state.end, written.map { ($0, state.start - position) })
      }
      if let chunk { return chunk }
      if let (written, left) = written {
        guard let bytes = written.bytes(at: position, count: min(left, Self.step)) else {
          throw LoadError(.truncated, message: "the part of the body on disk cannot be read")
        }
        return bytes[...]
      }
      if let end {
        try end.get()
        return nil
      }
      guard !Task.isCancelled else { throw LoadError(.cancelled, message: "cancelled") }
      await readers.wait { state.withLock { $0.count > position || $0.end != nil } ? () : nil }
    }
  }
}

extension ResponseStream.State {
  /// Returns the bytes in memory from a position to the end of their chunk.
  fileprivate func chunk(at position: Int) -> ArraySlice<UInt8>? {
    guard (start..<count).contains(position) else { return nil }
    // Most readers want the latest chunk.
    var end = count
    for chunk in chunks.reversed() {
      end -= chunk.count
      if position >= end { return chunk[(position - end)...] }
    }
    return nil
  }
}

/// A response whose head has arrived and whose body is arriving.
package final class StreamingResponse: Sendable {
  /// The response in the form in which it would be stored.
  package let response: StoredResponse
  /// The media type recognized from the body; nil for responses that are not images.
  package let mediaType: String?
  package let body = ResponseStream()
  private let isClaimed = Atomic(false)

  init(_ response: StoredResponse, mediaType: String? = nil) {
    self.response = response
    self.mediaType = mediaType
  }

  /// Returns true for the first call only: the request was made for that caller.
  package func claim() -> Bool { !isClaimed.exchange(true, ordering: .relaxed) }
}

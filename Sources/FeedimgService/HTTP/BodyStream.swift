import Feedimg

/// A body that is sent while it is being received.
struct BodyStream: Sendable {
  let body: ResponseStream
  /// The part of the body to send; nil for all of it.
  let part: Range<Int>?
  /// The number of bytes to send; nil where only the end of the body shows it.
  let length: Int?
  /// The length of the whole body, if known.
  private let total: Int?
  /// Changes the events in the body; nil to send it as it is.
  private let events: EventLines?
  /// Whether the body may drop the bytes that were sent.
  private let isOnlyReader: Bool
  /// Leaves the load of the body.
  let leave: @Sendable () -> Void

  /// - Parameters:
  ///   - body: The body that is being received.
  ///   - length: The length of the whole body, if known.
  ///   - part: The part of the body to send; nil for all of it.
  ///   - leave: Called when the client disconnects before the end.
  init(_ body: ResponseStream, length: Int?, part: Range<Int>? = nil, leave: @escaping @Sendable () -> Void) {
    (self.body, self.part, self.leave) = (body, part, leave)
    self.length = part?.count ?? length
    total = length
    (events, isOnlyReader) = (nil, false)
  }

  /// A body for one client.
  ///
  /// Memory holds only the bytes that the client has not taken.
  ///
  /// - Parameters:
  ///   - body: The body that is being received.
  ///   - length: The length of the body, if known.
  ///   - events: Changes the events in the body; nil to send it as it is.
  ///   - leave: Called when the client disconnects before the end.
  init(
    onlyReaderOf body: ResponseStream,
    length: Int?,
    events: EventLines? = nil,
    leave: @escaping @Sendable () -> Void
  ) {
    (self.body, self.length, self.events, self.leave) = (body, length, events, leave)
    (part, total, isOnlyReader) = (nil, length, true)
  }

  /// Sends the body piece by piece.
  ///
  /// The last piece is sent after the body has been stored. A client that then asks again gets the stored body.
  ///
  /// - Parameter send: Returns true when the client has taken the piece, and false when it has disconnected.
  /// - Returns: Whether the whole part was sent.
  func sendPieces(_ send: (ArraySlice<UInt8>) async -> Bool) async -> Bool {
    let wanted = part ?? 0..<Int.max
    var (position, events) = (wanted.lowerBound, events)
    do throws(LoadError) {
      while position < wanted.upperBound, let chunk = try await body.chunk(at: position) {
        let end = position + chunk.count
        if end == total { _ = try await body.chunk(at: end) }
        let piece = events?.take(chunk)[...] ?? chunk.prefix(wanted.upperBound - position)
        if !piece.isEmpty { guard await send(piece) else { return false } }
        position = end
        if isOnlyReader { body.drop(before: position) }
      }
      if let rest = events?.end(), !rest.isEmpty { return await send(rest[...]) }
      return true
    } catch {
      return false
    }
  }
}

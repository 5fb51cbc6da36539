import Feedimg

/// A body that is sent while it is being received.
struct BodyStream: Sendable {
  let body: ResponseStream
  /// The length of the whole body, if known.
  let total: Int?
  /// The part of the body to send; nil for all of it.
  var part: Range<Int>?
  /// Whether only one client reads the body, so that memory need not hold the bytes that it has taken.
  var isOnlyReader = false
  /// Changes the events in the body; nil to send it as it is.
  var events: EventLines?
  /// Waits until the body is stored; nil for clients that do not need the file.
  var storage: (@Sendable () async -> Void)?
  /// Leaves the load of the body; called when the client disconnects before the end.
  let leave: @Sendable () -> Void

  /// The number of bytes to send; nil where only the end of the body shows it.
  var length: Int? { part?.count ?? total }

  /// Sends the body piece by piece.
  ///
  /// The last piece waits for ``storage``. A client that then looks for the file finds it.
  ///
  /// - Parameter send: Returns true when the client has taken the piece, and false when it has disconnected.
  /// - Returns: Whether the whole part was sent.
  func sendPieces(_ send: (ArraySlice<UInt8>) async -> Bool) async -> Bool {
    let wanted = part ?? 0..<Int.max
    var (position, events) = (wanted.lowerBound, events)
    do throws(LoadError) {
      while position < wanted.upperBound, let chunk = try await body.chunk(at: position) {
        let end = position + chunk.count
        if end == total {
          _ = try await body.chunk(at: end)
          await storage?()
        }
        let piece = events?.take(chunk)[...] ?? chunk.prefix(wanted.upperBound - position)
        if !piece.isEmpty { guard await send(piece) else { return false } }
        position = end
        if isOnlyReader { body.drop(before: position) }
      }
      if total == nil { await storage?() }
      if let rest = events?.end(), !rest.isEmpty { return await send(rest[...]) }
      return true
    } catch {
      return false
    }
  }
}

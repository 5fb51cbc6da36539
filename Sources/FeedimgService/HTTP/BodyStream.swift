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
  }

  /// Sends the body piece by piece.
  ///
  /// The last piece is sent after the body has been stored, so that a client that then asks again gets the stored body.
  ///
  /// - Parameter send: Returns true when the client has taken the piece, and false when it has disconnected.
  /// - Returns: Whether the whole part was sent.
  func sendPieces(_ send: (ArraySlice<UInt8>) async -> Bool) async -> Bool {
    let wanted = part ?? 0..<Int.max
    var position = wanted.lowerBound
    do throws(LoadError) {
      while position < wanted.upperBound, let chunk = try await body.chunk(at: position) {
        let end = position + chunk.count
        if end == total { _ = try await body.chunk(at: end) }
        guard await send(chunk.prefix(wanted.upperBound - position)) else { return false }
        position = end
      }
      return true
    } catch {
      return false
    }
  }
}

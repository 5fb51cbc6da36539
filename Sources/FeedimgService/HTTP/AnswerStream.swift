import Feedimg

/// A body that is sent while it comes.
struct AnswerStream: Sendable {
  let body: ResponseStream
  /// The part of it that is sent; nil for all.
  var part: Range<Int>?
  /// How much is sent; nil where only the end will tell.
  let length: Int?
  /// The length of all of the body, where it is known.
  private let total: Int?
  /// Tells that nobody takes the body any more.
  let leave: @Sendable () -> Void

  /// - Parameters:
  ///   - body: What comes.
  ///   - length: That of all of it, where it is known.
  ///   - part: What of it is sent; nil for all.
  ///   - leave: Called when the client hangs up before the end.
  init(_ body: ResponseStream, length: Int?, part: Range<Int>? = nil, leave: @escaping @Sendable () -> Void) {
    (self.body, self.part, self.leave) = (body, part, leave)
    self.length = part?.count ?? length
    total = length
  }

  /// Hands on what is to be sent, piece by piece.
  ///
  /// The last piece follows when the body has ended, which is when it is kept: who has all of it and asks again is
  /// answered from what is stored.
  ///
  /// - Parameter send: Returns when the client has taken the piece, or false when it has left.
  /// - Returns: Whether all has been sent.
  func handOn(_ send: (ArraySlice<UInt8>) async -> Bool) async -> Bool {
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

import NIOCore

/// The body of a request, with the share of its connection in the limit for all bodies.
///
/// The share also counts a body that is made for the response.
struct RequestBody {
  /// The bytes that have arrived.
  private var bytes: [UInt8] = []
  /// The longest body of the request, in bytes.
  private var limit = 0
  /// The share of the connection, in bytes.
  private var heldCount = 0
  private let register: ConnectionRegister

  init(_ register: ConnectionRegister) { self.register = register }

  /// Sets the limit for the next body; throws if the value of `Content-Length`, if any, exceeds it.
  mutating func begin(length: String?, limit: Int) throws(Problem) {
    self.limit = limit
    if let length = length.flatMap({ Int($0) }), length > limit { throw tooLong }
  }

  /// Adds bytes to the body; throws if they exceed its limit or the limit for all bodies.
  mutating func append(_ part: ByteBuffer) throws(Problem) {
    guard bytes.count + part.readableBytes <= limit else { throw tooLong }
    guard hold(part.readableBytes) else { throw Self.noRoom }
    bytes.append(contentsOf: part.readableBytesView)
  }

  /// Removes and returns the bytes, which count toward the limit until ``release()``.
  mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// Counts bytes toward the limit for all bodies until ``release()``; false if they exceed it.
  mutating func hold(_ count: Int) -> Bool {
    guard register.hold(count) else { return false }
    heldCount += count
    return true
  }

  /// Drops the bytes and the share; a second call releases nothing.
  mutating func release() {
    bytes = []
    register.release(heldCount)
    heldCount = 0
  }

  static var noRoom: Problem {
    Problem(503, "too many long bodies are under way", fields: [("Retry-After", "1")])
  }

  private var tooLong: Problem { Problem(413, "the body of a request may have \(limit) bytes") }
}

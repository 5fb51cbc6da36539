import NIOCore

/// How much of the service one client may take.
struct ConnectionLimits: Sendable {
  /// How long a connection may wait for its next request, and a request for its end.
  var request = TimeAmount.seconds(30)
  /// How long a client may take nothing of what it is sent.
  var stall = TimeAmount.seconds(30)
  /// How long a refused client is listened to, so that it can read why.
  var farewell = TimeAmount.seconds(2)
  /// The longest body of a request, in bytes.
  var body = 1 << 20
  /// The bodies of all requests that are under way together, in bytes.
  var bodies = 64 << 20
  /// All fields of a request together, and its target, in bytes.
  var head = 64 << 10
  /// How many fields a request may have.
  var fieldCount = 128
  /// How many connections there may be at once.
  var connections = 4096
  /// How much of a long body is handed over at once, in bytes; blocks of this size are reused by malloc (mallopt(3),
  /// M_MMAP_THRESHOLD).
  var chunk = 64 << 10
  /// How much the kernel is to keep for a client at a Unix socket that does not read, in bytes.
  ///
  /// It doubles that for what it needs itself (socket(7), `SO_SNDBUF`), and grants no more than `net.core.wmem_max`: 200
  /// clients that do not read hold 85 MB at most, a fraction of what as many over TCP may.
  static let unixSendBuffer = 208 << 10
}

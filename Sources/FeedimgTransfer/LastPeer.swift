import Synchronization

/// The address that a request was last sent to, which may be a proxy's.
final class LastPeer: Sendable {
  /// Guards the address, in the words of libcurl.
  private let latest = Mutex<String?>(nil)

  /// Such as `192.0.2.1`; nil before the first request.
  var address: String? { latest.withLock { $0 } }

  func note(_ address: String) { latest.withLock { $0 = address } }
}

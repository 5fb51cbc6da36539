import Glibc

@testable import FeedimgReachability

extension IPAddress {
  /// Reads an IPv6 address as people write it.
  init?(parsing text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
    guard let address = bytes.withUnsafeBytes({ IPAddress($0) }) else { return nil }
    self = address
  }
}

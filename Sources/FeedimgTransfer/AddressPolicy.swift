import CCurl
package import FeedimgModel
import FeedimgSystem
import Glibc

/// The addresses that transfers may connect to.
package struct AddressPolicy: Sendable {
  /// Whether a transfer may connect to an address.
  let allows: @Sendable (IPAddress) -> Bool
  /// Whether every address is allowed; transfers then skip the check.
  let isUnlimited: Bool

  /// All hosts, including this machine and hosts of private networks.
  package static let everything = AddressPolicy(isUnlimited: true) { _ in true }

  /// Only other hosts on the public internet; a proxy must be one of them as well.
  ///
  /// Each connection is checked by its resolved address, and so is each redirect.
  package static let internet = AddressPolicy(isUnlimited: false) { $0.isPublic && !$0.isOfThisMachine }

  init(isUnlimited: Bool = false, allows: @escaping @Sendable (IPAddress) -> Bool) {
    self.allows = allows
    self.isUnlimited = isUnlimited
  }

  /// The error for a URL whose host is a forbidden address or `localhost`; nil for others.
  ///
  /// It resolves no name: other host names are checked when a transfer connects.
  package func rejection(of url: ImageURL) -> LoadError? {
    guard !isUnlimited else { return nil }
    if let address = Self.address(url.host) {
      return allows(address) ? nil : Self.error(host: url.host, address, url)
    }
    let isForbidden = url.isLoopback && !allows(.v4(0x7F00_0001))
    return isForbidden ? Self.error(host: url.host, nil, url) : nil
  }

  /// Reads an address in every form that resolvers accept, such as `127.1` and `0x7f000001` (inet_aton(3)).
  private static func address(_ host: String) -> IPAddress? {
    var four = in_addr()
    if let address = IPAddress(host) { return address }
    return inet_aton(host, &four) == 1 ? .v4(UInt32(bigEndian: four.s_addr)) : nil
  }

  /// Opens a socket for libcurl, unless the policy forbids its address; `refused` gets that address.
  func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>, _ refused: inout IPAddress?) -> Int32 {
    if !isUnlimited {
      guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr),
        let target = IPAddress(socketAddress: UnsafeRawPointer(address) + offset)
      else { return CURL_SOCKET_BAD }
      guard allows(target) else {
        refused = target
        return CURL_SOCKET_BAD
      }
    }
    // Unlike libcurl, set SOCK_CLOEXEC, so that programs started by this process do not inherit the socket.
    let (family, kind, proto) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    return socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), proto)
  }

  /// The error for a host that the policy forbids.
  static func error(host: String, _ address: IPAddress?, _ url: ImageURL? = nil) -> LoadError {
    let place = address.map { $0.description == host ? "" : ", which is \($0)," } ?? ""
    return LoadError(
      .forbiddenAddress,
      url: url,
      message: "the host `\(host)`\(place) is on this machine or on a private network, which is not allowed"
    )
  }
}

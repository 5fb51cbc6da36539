package import FeedimgModel
import Glibc

/// Which hosts may be connected to.
package struct Reach: Sendable {
  /// Whether an address may be connected to.
  let allows: @Sendable (HostAddress) -> Bool
  /// Whether every address may, so that none is looked at.
  let isUnlimited: Bool

  /// All hosts, also this machine and those of private networks.
  package static let everything = Reach(isUnlimited: true) { _ in true }

  /// Hosts of the internet alone.
  ///
  /// The address is looked at that is really connected to, after names are resolved, for each redirect and each
  /// connection, so that no name can lead elsewhere. A proxy is such a host as well.
  package static let internet = Reach(isUnlimited: false) { $0.isOfInternet }

  init(isUnlimited: Bool = false, allows: @escaping @Sendable (HostAddress) -> Bool) {
    self.allows = allows
    self.isUnlimited = isUnlimited
  }

  /// Why a URL is refused by its spelling alone, before any name is resolved; nil where that says nothing.
  package func objection(to url: ImageURL) -> LoadError? {
    guard !isUnlimited else { return nil }
    if let address = Self.address(url.host) {
      return allows(address) ? nil : Self.error(host: url.host, address, url)
    }
    let isOwn = url.isLoopback && !allows(HostAddress(v4: 0x7F00_0001))
    return isOwn ? Self.error(host: url.host, nil, url) : nil
  }

  /// An address in any of the forms that resolvers take, such as `127.1` and `0x7f000001` (inet_aton(3)).
  private static func address(_ host: String) -> HostAddress? {
    var four = in_addr()
    if let address = HostAddress(host) { return address }
    return inet_aton(host, &four) == 1 ? HostAddress(v4: UInt32(bigEndian: four.s_addr)) : nil
  }

  /// That a host may not be connected to.
  static func error(host: String, _ address: HostAddress?, _ url: ImageURL? = nil) -> LoadError {
    let place = address.map { $0.description == host ? "" : ", which is \($0)," } ?? ""
    return LoadError(
      .forbiddenAddress,
      url: url,
      message: "the host `\(host)`\(place) is on this machine or on a private network, which is not allowed"
    )
  }
}

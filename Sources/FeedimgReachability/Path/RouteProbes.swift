import FeedimgSystem

extension AddressFamily {
  /// The addresses for looking up the route to the internet; feedimg never sends anything to them.
  ///
  /// They belong to DNS root servers and a public resolver, which run at many places. The IPv4 addresses are
  /// in different halves of the address space, because tunnels often add one route for each half.
  var probes: [IPAddress] { self == .v4 ? Self.probesOfVersion4 : Self.probesOfVersion6 }

  private static let probesOfVersion4: [IPAddress] = [
    .v4(0xc100_0e81),  // k.root-servers.net, 193.0.14.129
    .v4(0x0101_0101),  // one.one.one.one, 1.1.1.1
  ]
  private static let probesOfVersion6: [IPAddress] = [
    .v6(0x2001_07fd_0000_0000, 1),  // k.root-servers.net, 2001:7fd::1
    .v6(0x2606_4700_4700_0000, 0x1111),  // one.one.one.one, 2606:4700:4700::1111
  ]
}

extension IPAddress {
  /// Whether the kernel has a route to the internet, on systems that refuse netlink.
  static var isInternetRouted: Bool {
    AddressFamily.allCases.flatMap(\.probes).contains { $0.source()?.isUnspecified == false }
  }

  /// Whether servers on the internet can reply to this source address.
  ///
  /// False for IPv6 loopback (RFC 4291), link-local (fe80::/10) and unique local addresses (fc00::/7, RFC
  /// 4193). True for private IPv4 addresses, because nearly all networks translate them.
  var isInternetSource: Bool {
    guard case .v6(let high, let low) = self else { return true }
    return high >> 57 != 0xfc >> 1 && high >> 54 != 0xfe80 >> 6 && !(high == 0 && low <= 1)
  }
}

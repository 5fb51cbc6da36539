import Glibc

/// An IPv4 or IPv6 address.
enum IPAddress: Hashable, Sendable {
  case v4(UInt32)
  case v6(UInt64, UInt64)

  /// Reads an address in network byte order.
  ///
  /// - Parameter bytes: Four bytes for IPv4, sixteen for IPv6. Any other length gives nil.
  init?(_ bytes: UnsafeRawBufferPointer) {
    switch bytes.count {
    case 4:
      self = .v4(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    case 16:
      self = .v6(
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    default: return nil
    }
  }

  var family: AddressFamily { if case .v4 = self { .v4 } else { .v6 } }

  /// Whether all bits are zero, which means no address.
  var isUnspecified: Bool { self == family.unspecified }

  /// Whether servers on the internet can reply to this source address.
  ///
  /// False for IPv6 loopback (RFC 4291), link-local (fe80::/10) and unique local addresses (fc00::/7, RFC
  /// 4193). True for private IPv4 addresses, because nearly all networks translate them.
  var isInternetSource: Bool {
    guard case .v6(let high, let low) = self else { return true }
    return high >> 57 != 0xfc >> 1 && high >> 54 != 0xfe80 >> 6 && !(high == 0 && low <= 1)
  }

  /// Whether the address belongs to a host on the internet: not private, shared, local, multicast or
  /// reserved.
  ///
  /// Follows the registries of special-purpose addresses (RFC 6890).
  var isGlobal: Bool {
    switch self {
    case .v4(let value):
      let special: [(UInt32, UInt32)] = [
        (0, 8), (0x0a00_0000, 8), (0x6440_0000, 10), (0x7f00_0000, 8), (0xa9fe_0000, 16), (0xac10_0000, 12),
        (0xc0a8_0000, 16), (0xe000_0000, 3),
      ]
      return !special.contains { prefix, length in value >> (32 - length) == prefix >> (32 - length) }
    case .v6(let high, _):
      // All global unicast addresses are in 2000::/3 (RFC 4291 §2.4).
      return high >> 61 == 1
    }
  }

  /// Parses an address in text form; nil for a host name.
  init?(_ text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    let family = text.utf8.contains(UInt8(ascii: ":")) ? AddressFamily.v6 : .v4
    guard inet_pton(Int32(family.number), text, &bytes) == 1 else { return nil }
    let length = Int(family.addressLength / 8)
    guard let address = bytes.withUnsafeBytes({ IPAddress(UnsafeRawBufferPointer(rebasing: $0[..<length])) })
    else { return nil }
    self = address
  }

  /// Calls a closure with the address in network byte order.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    switch self {
    case .v4(let value): Swift.withUnsafeBytes(of: value.bigEndian, body)
    case .v6(let high, let low): Swift.withUnsafeBytes(of: (high.bigEndian, low.bigEndian), body)
    }
  }
}

extension IPAddress: CustomStringConvertible {
  /// The address in text form (RFC 5952).
  var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    withBytes { _ = inet_ntop(Int32(family.number), $0.baseAddress, &text, socklen_t(text.count)) }
    return text.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// The two internet protocols.
enum AddressFamily: CaseIterable, Sendable {
  case v4
  case v6

  /// The number of the family (`AF_INET`, `AF_INET6`).
  var number: UInt8 { UInt8(self == .v4 ? AF_INET : AF_INET6) }

  /// The address with all bits zero.
  var unspecified: IPAddress { self == .v4 ? .v4(0) : .v6(0, 0) }

  /// The length of an address in bits.
  var addressLength: UInt8 { self == .v4 ? 32 : 128 }

  /// The addresses for looking up the route to the internet.
  ///
  /// feedimg never sends anything to them.
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

import Glibc

/// An IPv4 or IPv6 address.
///
/// A mapped address (`::ffff:0:0/96`, RFC 4291 §2.5.5.2) is read as the IPv4 address in it.
package enum IPAddress: Hashable, Sendable {
  case v4(UInt32)
  case v6(UInt64, UInt64)

  /// Reads an address in network byte order.
  ///
  /// - Parameter bytes: Four bytes for IPv4, sixteen for IPv6. Any other length gives nil.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    switch bytes.count {
    case 4:
      self = .v4(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    case 16:
      let high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      let isMapped = high == 0 && low >> 32 == 0xFFFF
      self = isMapped ? .v4(UInt32(truncatingIfNeeded: low)) : .v6(high, low)
    default: return nil
    }
  }

  /// Reads an address in standard text form; nil for a host name.
  package init?(_ text: String) {
    let family = text.utf8.contains(UInt8(ascii: ":")) ? AddressFamily.v6 : .v4
    var bytes = [UInt8](repeating: 0, count: Int(family.addressLength / 8))
    guard inet_pton(Int32(family.number), text, &bytes) == 1,
      let address = bytes.withUnsafeBytes({ IPAddress($0) })
    else { return nil }
    self = address
  }

  /// Reads a `sockaddr`; nil for another family than IPv4 and IPv6.
  package init?(socketAddress: UnsafeRawPointer) {
    switch Int32(socketAddress.load(as: sockaddr.self).sa_family) {
    case AF_INET:
      let address = socketAddress.load(as: sockaddr_in.self).sin_addr
      self = .v4(UInt32(bigEndian: address.s_addr))
    case AF_INET6:
      let address = socketAddress.loadUnaligned(as: sockaddr_in6.self).sin6_addr
      guard let read = withUnsafeBytes(of: address, { IPAddress($0) }) else { return nil }
      self = read
    default: return nil
    }
  }

  package var family: AddressFamily { if case .v4 = self { .v4 } else { .v6 } }

  /// Whether all bits are zero, which means no address.
  package var isUnspecified: Bool { self == family.unspecified }

  /// Whether the address is on the public internet, by the registries of special addresses (RFC 6890).
  ///
  /// False for this machine, private networks and the internal services of clouds. A translated address counts
  /// as the IPv4 address in it.
  package var isPublic: Bool {
    switch untranslated {
    case .v4(let value):
      return !Self.special4.contains { value >> (32 - $0.length) == $0.prefix >> (32 - $0.length) }
    case .v6(let high, _):
      // 2000::/3 holds all global unicast addresses assigned so far (RFC 4291 §2.4).
      return high >> 61 == 1
        && !Self.special6.contains { high >> (64 - $0.length) == $0.prefix >> (64 - $0.length) }
    }
  }

  /// The IPv4 address in a translated one (`64:ff9b::/96`, RFC 6052); any other address itself.
  private var untranslated: IPAddress {
    guard case .v6(0x0064_FF9B_0000_0000, let low) = self, low >> 32 == 0 else { return self }
    return .v4(UInt32(truncatingIfNeeded: low))
  }

  /// Whether packets to the address stay on this machine, as the kernel routes them now.
  ///
  /// The kernel chooses the address itself as the source of such packets. True if the kernel refuses the socket.
  package var isOfThisMachine: Bool {
    let address = untranslated
    return address.source().map { $0 == address } ?? true
  }

  /// The source address of packets to this address, as the kernel routes them now.
  ///
  /// Connects a datagram socket, which makes the kernel look up the route but sends nothing.
  ///
  /// - Returns: An unspecified address if there is no route; nil if the kernel refuses the socket.
  package func source() -> IPAddress? {
    let descriptor = socket(Int32(family.number), Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // Without IPv6, no connection to an IPv6 address can open.
    guard descriptor >= 0 else { return errno == EAFNOSUPPORT ? .v4(0) : nil }
    defer { close(descriptor) }
    var storage = socketAddress
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &storage) { bytes in
      guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return nil }
      guard connect(descriptor, pointer, length) == 0 else { return .v4(0) }
      guard getsockname(descriptor, pointer, &length) == 0 else { return nil }
      return IPAddress(socketAddress: pointer)
    }
  }

  /// The address for a socket, with any port except 0.
  private var socketAddress: sockaddr_storage {
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { storage in
      switch self {
      case .v4(let value):
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(9).bigEndian
        address.sin_addr.s_addr = value.bigEndian
        storage.storeBytes(of: address, as: sockaddr_in.self)
      case .v6:
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(9).bigEndian
        withBytes { bytes in withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyMemory(from: bytes) } }
        storage.storeBytes(of: address, as: sockaddr_in6.self)
      }
    }
    return storage
  }

  /// Calls a closure with the address in network byte order.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    switch self {
    case .v4(let value): Swift.withUnsafeBytes(of: value.bigEndian, body)
    case .v6(let high, let low): Swift.withUnsafeBytes(of: (high.bigEndian, low.bigEndian), body)
    }
  }

  private static let special4: [(prefix: UInt32, length: UInt32)] = [
    (0x0000_0000, 8),  // this network
    (0x0A00_0000, 8),  // private
    (0x6440_0000, 10),  // carrier-grade NAT; 100.100.100.200 is a cloud's metadata service
    (0x7F00_0000, 8),  // this machine
    (0xA9FE_0000, 16),  // link-local; 169.254.169.254 is the metadata service of clouds
    (0xAC10_0000, 12),  // private
    (0xC000_0000, 24),  // protocol assignments
    (0xC000_0200, 24),  // documentation
    (0xC058_6300, 24),  // 6to4 relays
    (0xC0A8_0000, 16),  // private
    (0xC612_0000, 15),  // benchmarks
    (0xC633_6400, 24),  // documentation
    (0xCB00_7100, 24),  // documentation
    (0xA83F_8110, 32),  // 168.63.129.16, a cloud's internal service on a public address
    (0xE000_0000, 3),  // multicast and reserved
  ]

  private static let special6: [(prefix: UInt64, length: UInt64)] = [
    (0x2001_0000_0000_0000, 23),  // protocol assignments; Teredo, which contains an IPv4 address
    (0x2001_0DB8_0000_0000, 32),  // documentation
    (0x2002_0000_0000_0000, 16),  // 6to4, which contains an IPv4 address
    (0x3FFF_0000_0000_0000, 20),  // documentation
  ]
}

extension IPAddress: CustomStringConvertible {
  /// The address in text form (RFC 5952).
  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    withBytes { _ = inet_ntop(Int32(family.number), $0.baseAddress, &text, socklen_t(text.count)) }
    return text.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// The two internet protocols.
package enum AddressFamily: CaseIterable, Sendable {
  case v4
  case v6

  /// The number of the family (`AF_INET`, `AF_INET6`).
  package var number: UInt8 { UInt8(self == .v4 ? AF_INET : AF_INET6) }

  /// The address with all bits zero.
  package var unspecified: IPAddress { self == .v4 ? .v4(0) : .v6(0, 0) }

  /// The length of an address in bits.
  package var addressLength: UInt8 { self == .v4 ? 32 : 128 }
}

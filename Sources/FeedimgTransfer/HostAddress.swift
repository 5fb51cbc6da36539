import CCurl
import Glibc

/// An IP address of a host.
package struct HostAddress: Sendable, Hashable {
  /// The upper half of the IPv6 address; an IPv4 address is stored as mapped (RFC 4291 §2.5.5.2).
  private let high: UInt64
  private let low: UInt64

  /// - Parameter value: An IPv4 address in host byte order.
  package init(v4 value: UInt32) {
    high = 0
    low = 0xFFFF_0000_0000 | UInt64(value)
  }

  /// Reads an address in standard text form; nil for a host name.
  package init?(_ text: String) {
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &four) == 1 {
      self.init(v4: UInt32(bigEndian: four.s_addr))
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      self.init(v6: six)
    } else {
      return nil
    }
  }

  /// Reads a `sockaddr`; nil for another family than IPv4 and IPv6.
  init?(_ address: UnsafeRawPointer) {
    switch Int32(address.load(as: sockaddr.self).sa_family) {
    case AF_INET: self.init(v4: UInt32(bigEndian: address.load(as: sockaddr_in.self).sin_addr.s_addr))
    case AF_INET6: self.init(v6: address.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
    default: return nil
    }
  }

  private init(v6 address: in6_addr) {
    (high, low) = withUnsafeBytes(of: address) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// Whether the address is on the public internet, as the registries of special addresses define it (RFC
  /// 6890).
  ///
  /// False for this machine, private networks and the internal services of clouds. A mapped (`::ffff:0:0/96`)
  /// or translated (`64:ff9b::/96`, RFC 6052) address counts as the IPv4 address in it.
  package var isPublic: Bool {
    if let embedded { return Self.isPublic(v4: embedded) }
    // 2000::/3 holds all global unicast addresses assigned so far (RFC 4291 §2.4).
    guard high >> 61 == 1 else { return false }
    return !Self.special6.contains { high >> (64 - $0.length) == $0.prefix >> (64 - $0.length) }
  }

  /// The IPv4 address that this address contains, if it is mapped or translated.
  private var embedded: UInt32? {
    let isMapped = high == 0 && low >> 32 == 0xFFFF
    let isTranslated = high == 0x0064_FF9B_0000_0000 && low >> 32 == 0
    return isMapped || isTranslated ? UInt32(truncatingIfNeeded: low) : nil
  }

  /// Whether packets to the address stay on this machine, as the kernel routes them now.
  ///
  /// The kernel chooses the address itself as the source of such packets. No packet is sent. True if the kernel
  /// refuses the socket.
  var isOfThisMachine: Bool {
    if let embedded {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = embedded.bigEndian
      // Any port except 0.
      address.sin_port = in_port_t(9).bigEndian
      return Self.source(of: address, AF_INET).map { $0.embedded == embedded } ?? true
    }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = in_port_t(9).bigEndian
    withUnsafeMutableBytes(of: &address.sin6_addr) {
      $0.storeBytes(of: high.bigEndian, as: UInt64.self)
      $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return Self.source(of: address, AF_INET6).map { $0 == self } ?? true
  }

  /// The source address of packets to a `sockaddr_in` or `sockaddr_in6`.
  ///
  /// - Returns: An unspecified address if there is no route; nil if the kernel refuses the socket.
  private static func source<Address>(of target: Address, _ family: Int32) -> HostAddress? {
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // Without IPv6, no connection to an IPv6 address can open.
    guard descriptor >= 0 else { return errno == EAFNOSUPPORT ? HostAddress(v4: 0) : nil }
    defer { close(descriptor) }
    var address = target
    var length = socklen_t(MemoryLayout<Address>.size)
    return withUnsafeMutableBytes(of: &address) { bytes in
      guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return nil }
      guard connect(descriptor, pointer, length) == 0 else { return HostAddress(v4: 0) }
      guard getsockname(descriptor, pointer, &length) == 0 else { return nil }
      return HostAddress(UnsafeRawPointer(pointer))
    }
  }

  private static func isPublic(v4 value: UInt32) -> Bool {
    !special4.contains { value >> (32 - $0.length) == $0.prefix >> (32 - $0.length) }
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

extension HostAddress: CustomStringConvertible {
  /// The address in standard text form; a mapped address is shown as IPv4.
  package var description: String {
    if let embedded, high == 0 {
      return "\(embedded >> 24).\(embedded >> 16 & 0xFF).\(embedded >> 8 & 0xFF).\(embedded & 0xFF)"
    }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    var bytes = (high.bigEndian, low.bigEndian)
    _ = inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
    return text.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// An interface, as the kernel describes it.
struct Link: Hashable, Sendable {
  var index: Int32
  var name: String
  /// The type of hardware (`ARPHRD_…` of linux/if_arp.h).
  var hardwareType: UInt16 = 1
  /// `IFF_…` of linux/if.h.
  var flags: UInt32 = LinkFlags.usable
  /// `IF_OPER_…` of linux/if.h.
  var operationalState: UInt8 = OperationalState.unknown
  /// Whether there is a signal; nil where the message does not tell.
  var hasCarrier: Bool?
  /// What kind of software made the interface, such as `veth`; nil for most hardware.
  var kind: String?
  /// The interface below, which may be one of another namespace: see ``isLowerElsewhere``.
  var lower: Int32?
  /// Whether ``lower`` counts in another namespace.
  var isLowerElsewhere = false
  /// The bridge, bond or team that this is a port of.
  var master: Int32?
  /// The port of a bond that is in use.
  var activePort: Int32?
  /// The other end of a tunnel.
  var remote: IPAddress?
  /// The device that drives the interface, such as `0000:00:03.0`, and the bus it is on.
  var parentDevice: String?
  var parentBus: String?
  /// How often the carrier came up, which tells one association with Wi-Fi from another.
  var carrierUps: UInt32 = 0
}

/// Bits of ``Link/flags`` (`enum net_device_flags` of linux/if.h).
enum LinkFlags {
  static let up: UInt32 = 1 << 0
  static let loopback: UInt32 = 1 << 3
  static let running: UInt32 = 1 << 6
  static let lowerUp: UInt32 = 1 << 16
  static let usable = up | running | lowerUp
}

/// Values of ``Link/operationalState`` (RFC 2863, as numbered in linux/if.h).
enum OperationalState {
  static let unknown: UInt8 = 0
  static let notPresent: UInt8 = 1
  static let down: UInt8 = 2
  static let lowerLayerDown: UInt8 = 3
  static let dormant: UInt8 = 5
  static let up: UInt8 = 6
}

/// Values of ``Link/hardwareType`` (linux/if_arp.h).
enum HardwareType {
  static let ethernet: UInt16 = 1
  static let infiniband: UInt16 = 32
  static let ppp: UInt16 = 512
  static let rawIP: UInt16 = 519
  static let phonetPipe: UInt16 = 821
  static let rawIPOfRMNet: UInt16 = 530
  static let loopback: UInt16 = 772
  static let monitors: ClosedRange<UInt16> = 801...803
  static let none: UInt16 = 65534
}

import FeedimgSystem

/// The properties of the device behind an interface, besides those of its link.
struct Hardware: Hashable, Sendable {
  /// The relevant modes of a Wi-Fi interface (`enum nl80211_iftype` of linux/nl80211.h).
  enum WirelessMode: Hashable, Sendable {
    /// A station of a network, or a member of an ad-hoc network.
    case client
    /// An access point.
    case accessPoint
    /// A monitor, which only receives.
    case monitor
  }

  /// `DEVTYPE` of the interface, such as `wwan`, or `wlan` for any Wi-Fi radio; nil if there is none.
  var deviceType: String?
  /// Whether to ask nl80211.
  var mayBeWireless = false
  /// The kernel's driver, such as `rndis_host`.
  var driver: String?
  /// Nil if nl80211 does not know the interface or was not asked.
  var wirelessMode: WirelessMode?
  /// The USB device behind the interface, for drivers that phones, modems and docks share.
  var usb: USBDevice?
}

/// The properties of a USB device that distinguish phones and modems from network adapters.
struct USBDevice: Hashable, Sendable {
  var vendor: UInt16
  /// Whether it also has a serial port.
  ///
  /// Modems do, network adapters do not.
  var hasSerialPort: Bool

  /// Whether the manufacturer makes phones, and no other USB network devices (usb.ids).
  var isOfPhoneMaker: Bool { Self.phoneMakers.contains(vendor) }

  private static let phoneMakers: Set<UInt16> = [
    0x05ac,  // Apple
    0x18d1,  // Google
    0x04e8,  // Samsung
    0x2717,  // Xiaomi
    0x22b8,  // Motorola
    0x0bb4,  // HTC
    0x0fce,  // Sony
    0x1004,  // LG
    0x2a70,  // OnePlus
    0x22d9,  // OPPO
    0x2d95,  // vivo
    0x0421,  // Nokia
    0x2e04,  // HMD
    0x2ae5,  // Fairphone
    0x0e8d,  // MediaTek
  ]
}

extension USBDevice {
  /// Finds the USB device behind a link; nil if there is none, or it cannot be read.
  ///
  /// Unlike interfaces, bus devices are the same in all namespaces.
  init?(behind link: Link) {
    // `1-4:1.0` is interface 0 in configuration 1 of the device `1-4`.
    guard link.parentBus == "usb", let device = link.parentDevice?.split(separator: ":").first else {
      return nil
    }
    let folder = "/sys/bus/usb/devices/\(device)"
    guard let text = SystemFiles().read("\(folder)/idVendor"),
      let vendor = UInt16(text.prefix { $0 != "\n" }, radix: 16)
    else { return nil }
    let hasSerialPort = SystemFiles().names(in: folder).contains { interface in
      interface.hasPrefix("\(device):")
        && SystemFiles().names(in: "\(folder)/\(interface)").contains { $0.hasPrefix("tty") }
    }
    self.init(vendor: vendor, hasSerialPort: hasSerialPort)
  }
}

/// The properties of an interface in sysfs.
struct SysfsInterface {
  private let folder: String
  /// `DEVTYPE`, such as `wwan`; nil for plain Ethernet.
  ///
  /// It is `wlan` for a Wi-Fi radio of a driver that sets no type.
  let deviceType: String?

  var hasDevice: Bool { SystemFiles().exists("\(folder)/device") }

  /// The interfaces below this one, as sysfs shows them.
  var lowerIndices: [Int32] {
    SystemFiles().names(in: folder).filter { $0.hasPrefix("lower_") }.sorted().compactMap { name in
      SystemFiles().read("\(folder)/\(name)/ifindex").flatMap { Int32($0.prefix(while: \.isNumber)) }
    }
  }

  /// Finds a link in sysfs; nil if it does not show this link.
  ///
  /// The mounted sysfs may show another namespace, where another interface may have the same name. Therefore
  /// the index must match.
  init?(_ link: Link) {
    folder = "/sys/class/net/\(link.name)"
    guard let event = SystemFiles().read("\(folder)/uevent")?.split(separator: "\n"),
      event.contains("IFINDEX=\(link.index)")
    else { return nil }
    deviceType =
      event.first { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst(8)) }
      ?? (SystemFiles().exists("\(folder)/phy80211") ? "wlan" : nil)
  }
}

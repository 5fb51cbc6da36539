/// Determines the class of the link at the end of a path.
///
/// Uses the most reliable sign first: the kind, nl80211, the device type, the driver, the hardware type.
/// Ignores the name, which anyone can change.
enum LinkClassifier {
  /// Classifies a link that has no other link below it.
  ///
  /// - Parameters:
  ///   - link: The link. Stacked links were resolved before.
  ///   - hardware: The properties of its device, read only if the kind does not decide. A link with a
  ///     deciding kind
  ///     is never Wi-Fi.
  /// - Returns: The class; `unknown` if no sign decides.
  static func classify(_ link: Link, _ hardware: @autoclosure () -> Hardware) -> LinkClass {
    if let linkClass = byKind(link) { return linkClass }
    let hardware = hardware()
    // Needed when nl80211 is refused and only the device type is known.
    if HardwareType.monitors ~= link.hardwareType { return byHardwareType(link) }
    return byWirelessMode(link, hardware) ?? byDeviceType(link, hardware) ?? byDriver(link, hardware)
      ?? byHardwareType(link)
  }

  private static func byWirelessMode(_ link: Link, _ hardware: Hardware) -> LinkClass? {
    switch hardware.wirelessMode {
    case .client?: LinkClass(medium: .wifi, reason: "`\(link.name)` is connected to a Wi-Fi network")
    case .accessPoint?:
      LinkClass(medium: .noConnection, reason: "`\(link.name)` is an access point")
    case .monitor?: LinkClass(medium: .noConnection, reason: "`\(link.name)` only monitors Wi-Fi")
    case nil: nil
    }
  }

  private static func byKind(_ link: Link) -> LinkClass? {
    switch link.kind {
    case "wwan", "rmnet":
      return LinkClass(medium: .cellular, reason: "`\(link.name)` is a connection of a mobile modem")
    case "veth", "netkit":
      return LinkClass(
        medium: .ethernet,
        isVirtual: true,
        reason: "`\(link.name)` is a virtual Ethernet cable, as in containers"
      )
    case "dsa":
      return LinkClass(medium: .ethernet, reason: "`\(link.name)` is a port of an Ethernet switch")
    case "dummy", "ifb", "nlmon", "vcan", "vxcan", "can":
      return LinkClass(
        medium: .unknown,
        isVirtual: true,
        reason: "`\(link.name)` is a software device (\(link.kind ?? "")), so its hardware is unknown"
      )
    default: return nil
    }
  }

  private static func byDeviceType(_ link: Link, _ hardware: Hardware) -> LinkClass? {
    switch hardware.deviceType {
    case "wlan": LinkClass(medium: .wifi, reason: "`\(link.name)` is a Wi-Fi device")
    case "wwan":
      LinkClass(
        medium: .cellular,
        isTether: hardware.driver.map(Driver.init) == .phone,
        reason: "`\(link.name)` is a mobile modem"
      )
    case "bluetooth":
      LinkClass(medium: .cellular, isTether: true, reason: "`\(link.name)` is a phone shared by Bluetooth")
    case "gadget", "dsa": LinkClass(medium: .ethernet, reason: "`\(link.name)` is an Ethernet device")
    default: hardware.hasRadio ? LinkClass(medium: .wifi, reason: "`\(link.name)` has a Wi-Fi radio") : nil
    }
  }

  private static func byDriver(_ link: Link, _ hardware: Hardware) -> LinkClass? {
    guard let name = hardware.driver else { return nil }
    switch Driver(name) {
    case .modem:
      return LinkClass(medium: .cellular, reason: "`\(link.name)` is a mobile modem (driver \(name))")
    case .phone:
      return LinkClass(
        medium: .cellular,
        isTether: true,
        reason: "`\(link.name)` is a phone shared by USB (driver \(name))"
      )
    case .shared: return hardware.usb.flatMap { byUSB(link, $0) }
    case .other: return nil
    }
  }

  private static func byUSB(_ link: Link, _ usb: USBDevice) -> LinkClass? {
    if usb.isOfPhoneMaker {
      return LinkClass(
        medium: .cellular,
        isTether: true,
        reason: "`\(link.name)` is a phone shared by USB (its maker is a maker of phones)"
      )
    }
    guard usb.hasSerialPort else { return nil }
    return LinkClass(
      medium: .cellular,
      reason: "`\(link.name)` is a mobile modem (a network with a serial port beside it on USB)"
    )
  }

  private static func byHardwareType(_ link: Link) -> LinkClass {
    switch link.hardwareType {
    case HardwareType.rawIP, HardwareType.rawIPOfRMNet, HardwareType.phonetPipe:
      LinkClass(medium: .cellular, reason: "`\(link.name)` is a mobile modem")
    case HardwareType.monitors:
      LinkClass(medium: .noConnection, reason: "`\(link.name)` only monitors Wi-Fi")
    case HardwareType.loopback:
      LinkClass(medium: .noConnection, reason: "`\(link.name)` leads back to this host")
    case HardwareType.infiniband:
      LinkClass(medium: .ethernet, reason: "`\(link.name)` is an InfiniBand device")
    case HardwareType.ethernet where link.kind == nil:
      LinkClass(medium: .ethernet, reason: "`\(link.name)` is an Ethernet device")
    default:
      LinkClass(
        medium: .unknown,
        isVirtual: link.kind != nil,
        reason: "the kernel does not report the hardware of `\(link.name)`"
      )
    }
  }
}

/// The class of a link, by the data that passes through it.
struct LinkClass: Hashable, Sendable {
  enum Medium: Hashable, Sendable {
    case wifi
    case ethernet
    case cellular
    /// The link carries data over unknown hardware.
    case unknown
    /// The link carries no data to the internet, even if routes use it.
    case noConnection
  }

  var medium: Medium
  /// Whether it is a phone that shares its connection over a cable or Bluetooth.
  var isTether = false
  /// Whether this host sees no hardware behind it.
  var isVirtual = false
  /// The reason in words.
  var reason: String

  /// Whether an undetected phone may be behind it.
  var mayBePhone: Bool { (medium == .wifi || medium == .ethernet) && !isVirtual }
}

/// The device types that a driver is for.
enum Driver {
  /// Mobile modems only.
  case modem
  /// Phones that share their connection: older Android phones and iPhones.
  case phone
  /// Phones, modems, docks and network adapters alike.
  case shared
  case other

  /// Classifies a driver by its name, as ethtool reports it.
  init(_ name: String) {
    switch name {
    case "qmi_wwan", "qmi_wwan_q", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "lg-vl600", "kalmia",
      "cdc-phonet", "mtk_t7xx", "t7xx", "iosm", "mhi_wwan_mbim", "mhi_net", "rmnet", "ipa":
      self = .modem
    case "rndis_host", "ipheth": self = .phone
    case "cdc_ether", "cdc_ncm", "cdc_eem", "cdc_subset": self = .shared
    default: self = .other
    }
  }
}

import FeedimgModel

/// Determines the class of the link at the end of a path.
///
/// Uses the most reliable sign first: the kind, nl80211, the device type, the driver, the hardware type.
/// Ignores the name, which anyone can change.
enum LinkClassifier {
  /// Classifies a link that has no other link below it; `unknown` if no sign decides.
  ///
  /// Reads the hardware only if the kind does not decide. A link with a deciding kind is never Wi-Fi.
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
    case .client?: link.classed(.wifi, "is connected to a Wi-Fi network")
    case .accessPoint?: link.classed(.offline, "is an access point")
    case .monitor?: link.classed(.offline, "only monitors Wi-Fi")
    case nil: nil
    }
  }

  private static func byKind(_ link: Link) -> LinkClass? {
    guard let kind = link.kind else { return nil }
    switch kind {
    case "wwan", "rmnet": return link.classed(.cellular, "is a connection of a mobile modem")
    case "veth", "netkit":
      return link.classed(.ethernet, isVirtual: true, "is a virtual Ethernet cable, as in containers")
    case "dsa": return link.classed(.ethernet, "is a port of an Ethernet switch")
    case "dummy", "ifb", "nlmon", "vcan", "vxcan", "can":
      let reason = "is a software device (\(kind)), so its hardware is unknown"
      return link.classed(.other, isVirtual: true, reason)
    default: return nil
    }
  }

  private static func byDeviceType(_ link: Link, _ hardware: Hardware) -> LinkClass? {
    switch hardware.deviceType {
    case "wlan": link.classed(.wifi, "is a Wi-Fi device")
    case "wwan":
      link.classed(.cellular, isTether: hardware.driver.map(Driver.init) == .phone, "is a mobile modem")
    case "bluetooth": link.classed(.cellular, isTether: true, "is a phone shared by Bluetooth")
    case "gadget", "dsa": link.classed(.ethernet, "is an Ethernet device")
    default: nil
    }
  }

  private static func byDriver(_ link: Link, _ hardware: Hardware) -> LinkClass? {
    guard let name = hardware.driver else { return nil }
    switch Driver(name) {
    case .modem: return link.classed(.cellular, "is a mobile modem (driver \(name))")
    case .phone: return link.classed(.cellular, isTether: true, "is a phone shared by USB (driver \(name))")
    case .shared where hardware.usb?.isOfPhoneMaker == true:
      let reason = "is a phone shared by USB (its maker is a maker of phones)"
      return link.classed(.cellular, isTether: true, reason)
    case .shared where hardware.usb?.hasSerialPort == true:
      return link.classed(.cellular, "is a mobile modem (a network with a serial port beside it on USB)")
    case .shared, .other: return nil
    }
  }

  private static func byHardwareType(_ link: Link) -> LinkClass {
    switch link.hardwareType {
    case HardwareType.rawIP, HardwareType.rawIPOfRMNet, HardwareType.phonetPipe:
      link.classed(.cellular, "is a mobile modem")
    case HardwareType.monitors: link.classed(.offline, "only monitors Wi-Fi")
    case HardwareType.loopback: link.classed(.offline, "leads back to this host")
    case HardwareType.infiniband: link.classed(.ethernet, "is an InfiniBand device")
    case HardwareType.ethernet where link.kind == nil: link.classed(.ethernet, "is an Ethernet device")
    default:
      LinkClass(
        medium: .other,
        isVirtual: link.kind != nil,
        reason: "the kernel does not report the hardware of `\(link.name)`"
      )
    }
  }
}

extension Link {
  /// A class of the link; its reason is a sentence about the link.
  func classed(
    _ medium: NetworkKind,
    isTether: Bool = false,
    isVirtual: Bool = false,
    _ predicate: String
  ) -> LinkClass {
    LinkClass(medium: medium, isTether: isTether, isVirtual: isVirtual, reason: "`\(name)` \(predicate)")
  }
}

/// The class of a link, by the data that passes through it.
struct LinkClass: Hashable, Sendable {
  /// `other` for unknown hardware, and `offline` for a link that never leads to the internet.
  var medium: NetworkKind
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

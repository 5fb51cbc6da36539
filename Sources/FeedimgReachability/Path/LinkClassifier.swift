/// Tells what a link at the end of a path is.
///
/// The sources are asked from the surest to the least sure: the kind, nl80211, the type of the device,
/// the driver, the type of hardware. Never the name, which anybody may change.
enum LinkClassifier {
  /// Classifies a link that has none below it.
  ///
  /// - Parameters:
  ///   - link: The link; stacked links are resolved before.
  ///   - hardware: What is known of its device, which is only asked for where the kind does not tell: no kind
  ///     that does is ever Wi-Fi.
  /// - Returns: The answer, `unknown` where no sign tells.
  static func classify(_ link: Link, _ hardware: @autoclosure () -> Hardware) -> LinkClass {
    if let answer = byKind(link) { return answer }
    let hardware = hardware()
    // Also where nl80211 is refused, and only the type of the device is known.
    if HardwareType.monitors ~= link.hardwareType { return byHardwareType(link) }
    return byWirelessMode(link, hardware) ?? byDeviceType(link, hardware) ?? byDriver(link, hardware)
      ?? byHardwareType(link)
  }

  private static func byWirelessMode(_ link: Link, _ hardware: Hardware) -> LinkClass? {
    switch hardware.wirelessMode {
    case .client?: LinkClass(medium: .wifi, reason: "`\(link.name)` is joined to a Wi-Fi network")
    case .accessPoint?:
      LinkClass(medium: .noConnection, reason: "`\(link.name)` is an access point itself")
    case .monitor?: LinkClass(medium: .noConnection, reason: "`\(link.name)` only listens to Wi-Fi")
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
        reason: "`\(link.name)` is a virtual Ethernet cable, as containers have it"
      )
    case "dsa":
      return LinkClass(medium: .ethernet, reason: "`\(link.name)` is a port of an Ethernet switch")
    case "dummy", "ifb", "nlmon", "vcan", "vxcan", "can":
      return LinkClass(
        medium: .unknown,
        isVirtual: true,
        reason: "`\(link.name)` is made by software (\(link.kind ?? "")), so nobody can tell what carries it"
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
      LinkClass(medium: .noConnection, reason: "`\(link.name)` only listens to Wi-Fi")
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
        reason: "nothing tells what carries the data of `\(link.name)`"
      )
    }
  }
}

/// What a link is, seen from the data that passes through it.
struct LinkClass: Hashable, Sendable {
  enum Medium: Hashable, Sendable {
    case wifi
    case ethernet
    case cellular
    /// It carries data, but nobody can tell how.
    case unknown
    /// It carries no data of ours to the internet, whatever the routes say.
    case noConnection
  }

  var medium: Medium
  /// Whether it is a phone, reached by cable or Bluetooth.
  var isTether = false
  /// Whether there is no hardware that this host can see.
  var isVirtual = false
  /// Why, in words.
  var reason: String

  /// Whether a phone might be behind it that does not show as one.
  var mayBePhone: Bool { (medium == .wifi || medium == .ethernet) && !isVirtual }
}

/// What the name of a driver tells of a device.
enum Driver {
  /// It drives mobile modems alone.
  case modem
  /// It drives phones that share their connection: Android's old way, and the iPhone's.
  case phone
  /// Phones, modems, docks and network adapters have it in common.
  case shared
  case other

  /// Judges a driver by its name, as ethtool gives it.
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

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
    return byWirelessMode(link, hardware) ?? byDeviceType(link, hardware) ?? byDriver(link, hardware)
      ?? byHardwareType(link)
  }

  /// Whether a driver is one of mobile modems.
  static func isModem(driver: String) -> Bool {
    modemDrivers.contains(driver)
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
        isTether: hardware.driver.map(phoneDrivers.contains) ?? false,
        reason: "`\(link.name)` is a mobile modem"
      )
    case "bluetooth":
      LinkClass(medium: .cellular, isTether: true, reason: "`\(link.name)` is a phone shared by Bluetooth")
    case "gadget", "dsa": LinkClass(medium: .ethernet, reason: "`\(link.name)` is an Ethernet device")
    default: hardware.hasRadio ? LinkClass(medium: .wifi, reason: "`\(link.name)` has a Wi-Fi radio") : nil
    }
  }

  private static func byDriver(_ link: Link, _ hardware: Hardware) -> LinkClass? {
    guard let driver = hardware.driver else { return nil }
    if modemDrivers.contains(driver) {
      return LinkClass(medium: .cellular, reason: "`\(link.name)` is a mobile modem (driver \(driver))")
    }
    if phoneDrivers.contains(driver) {
      return LinkClass(
        medium: .cellular,
        isTether: true,
        reason: "`\(link.name)` is a phone shared by USB (driver \(driver))"
      )
    }
    guard sharedDrivers.contains(driver), let usb = hardware.usb else { return nil }
    if phoneVendors.contains(usb.vendor) {
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

  /// Drivers of mobile modems alone.
  private static let modemDrivers: Set<String> = [
    "qmi_wwan", "qmi_wwan_q", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "lg-vl600", "kalmia",
    "cdc-phonet", "mtk_t7xx", "t7xx", "iosm", "mhi_wwan_mbim", "mhi_net", "rmnet", "ipa",
  ]
  /// Drivers of phones that share their connection: Android's old way, and the iPhone's.
  private static let phoneDrivers: Set<String> = ["rndis_host", "ipheth"]
  /// Drivers that phones, modems, docks and network adapters have in common.
  static let sharedDrivers: Set<String> = ["cdc_ether", "cdc_ncm", "cdc_eem", "cdc_subset"]
  /// Makers of phones, none of whose other USB devices has a network (usb.ids).
  private static let phoneVendors: Set<UInt16> = [
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

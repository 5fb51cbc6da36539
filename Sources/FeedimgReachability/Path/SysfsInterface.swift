/// What sysfs shows of an interface.
struct SysfsInterface {
  private let folder: String
  /// `DEVTYPE`, such as `wlan`; nil for plain Ethernet.
  let deviceType: String?

  var hasDevice: Bool { TextFile.exists("\(folder)/device") }
  /// Whether a Wi-Fi radio is below, which every driver of today gives a type.
  var hasRadio: Bool { deviceType == "wlan" || deviceType == nil && TextFile.exists("\(folder)/phy80211") }

  /// The interfaces below that the kernel shows here.
  var lowerIndices: [Int32] {
    TextFile.names(in: folder).filter { $0.hasPrefix("lower_") }.sorted().compactMap { name in
      TextFile.read("\(folder)/\(name)/ifindex").flatMap { Int32($0.prefix(while: \.isNumber)) }
    }
  }

  /// Looks for a link.
  ///
  /// What is mounted may show another namespace, where the name is another interface's or no one's. So it
  /// counts only where the index is the same.
  ///
  /// - Returns: Nil where sysfs does not show this link.
  init?(_ link: Link) {
    folder = "/sys/class/net/\(link.name)"
    guard let text = TextFile.read("\(folder)/uevent") else { return nil }
    let event = DeviceEvent(text)
    guard event["IFINDEX"] == String(link.index) else { return nil }
    deviceType = event["DEVTYPE"]
  }
}

/// What is known of the device behind an interface, besides what its link says.
struct Hardware: Hashable, Sendable {
  /// The modes of a Wi-Fi interface that matter here (`enum nl80211_iftype` of linux/nl80211.h).
  enum WirelessMode: Hashable, Sendable {
    /// It takes part in a network as any station does, or as one among equals.
    case client
    /// It is the network's own access point.
    case accessPoint
    /// It only listens.
    case monitor
  }

  /// `DEVTYPE` of the interface, such as `wlan` or `wwan`; nil where there is none.
  var deviceType: String?
  /// Whether sysfs shows a Wi-Fi radio below the interface.
  var hasRadio = false
  /// Whether nl80211 is worth asking.
  var mayBeWireless = false
  /// The kernel's driver, such as `rndis_host`.
  var driver: String?
  /// Nil where nl80211 does not know the interface, or was not asked.
  var wirelessMode: WirelessMode?
  /// The USB device behind the interface, for the drivers that phones, modems and docks share.
  var usb: USBDevice?
}

import FeedimgModel
import Testing

@testable import FeedimgReachability

@Suite struct LinkClassifierTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    var link: Link
    var hardware = Hardware()
    var medium: NetworkKind
    var isTether = false
    var isVirtual = false
    /// The reason for the expected result.
    var because: String
    var testDescription: String { name }
  }

  @Test(arguments: rows)
  func `the most reliable sign decides the class of a link`(_ row: Row) {
    let result = LinkClassifier.classify(row.link, row.hardware)
    #expect(result.medium == row.medium, "\(row.because)")
    #expect(result.isTether == row.isTether, "\(row.because)")
    #expect(result.isVirtual == row.isVirtual, "\(row.because)")
    #expect(result.reason.contains("`\(row.link.name)`"))
  }

  private static func link(
    _ name: String,
    _ type: UInt16 = HardwareType.ethernet,
    kind: String? = nil
  ) -> Link {
    Link(index: 2, name: name, hardwareType: type, kind: kind)
  }

  private static func usb(_ driver: String, vendor: UInt16, serial: Bool = false) -> Hardware {
    Hardware(driver: driver, usb: USBDevice(vendor: vendor, hasSerialPort: serial))
  }

  static let rows: [Row] = [
    Row(
      name: "Wi-Fi, joined",
      link: link("wlan0"),
      hardware: Hardware(deviceType: "wlan", wirelessMode: .client),
      medium: .wifi,
      because: "nl80211 reports a station"
    ),
    Row(
      name: "own access point",
      link: link("wlan0"),
      hardware: Hardware(deviceType: "wlan", wirelessMode: .accessPoint),
      medium: .offline,
      because: "nl80211 precedes the device type"
    ),
    Row(
      name: "Wi-Fi without nl80211",
      link: link("wlan0"),
      hardware: Hardware(deviceType: "wlan"),
      medium: .wifi,
      because: "DEVTYPE decides if nl80211 is refused"
    ),
    Row(
      name: "Wi-Fi monitor",
      link: link("mon0", 803),
      medium: .offline,
      because: "ARPHRD 803 is a monitor"
    ),
    Row(
      name: "LTE in raw IP mode",
      link: link("wwan0", HardwareType.none),
      hardware: Hardware(deviceType: "wwan", driver: "qmi_wwan"),
      medium: .cellular,
      because: "type 65534 is not VPN by itself"
    ),
    Row(
      name: "LTE with Ethernet headers",
      link: link("wwan0"),
      hardware: Hardware(driver: "cdc_mbim"),
      medium: .cellular,
      because: "the driver decides without sysfs"
    ),
    Row(
      name: "modem of the WWAN subsystem",
      link: link("wwan0", HardwareType.none, kind: "wwan"),
      medium: .cellular,
      because: "the kind decides"
    ),
    Row(
      name: "Android by USB, the old way",
      link: link("usb0"),
      hardware: Hardware(driver: "rndis_host"),
      medium: .cellular,
      isTether: true,
      because: "it is the phone's data"
    ),
    Row(
      name: "Android by USB, with the kernel's type wwan",
      link: link("wwan0"),
      hardware: Hardware(deviceType: "wwan", driver: "rndis_host"),
      medium: .cellular,
      isTether: true,
      because: "some kernels of 2025 mark RNDIS this way"
    ),
    Row(
      name: "iPhone by USB",
      link: link("eth1"),
      hardware: Hardware(driver: "ipheth"),
      medium: .cellular,
      isTether: true,
      because: "it is the phone's data"
    ),
    Row(
      name: "Android by USB, the new way",
      link: link("usb0"),
      hardware: usb("cdc_ncm", vendor: 0x18d1),
      medium: .cellular,
      isTether: true,
      because: "the vendor makes phones"
    ),
    Row(
      name: "dock",
      link: link("eth1"),
      hardware: usb("cdc_ncm", vendor: 0x0bda),
      medium: .ethernet,
      because: "the same driver, but not a phone vendor and no serial port"
    ),
    Row(
      name: "modem as Ethernet",
      link: link("eth1"),
      hardware: usb("cdc_ether", vendor: 0x12d1, serial: true),
      medium: .cellular,
      because: "its serial port is for AT commands"
    ),
    Row(
      name: "phone by Bluetooth",
      link: link("bnep0"),
      hardware: Hardware(deviceType: "bluetooth"),
      medium: .cellular,
      isTether: true,
      because: "it is the phone's data"
    ),
    Row(
      name: "network card",
      link: link("eth0"),
      hardware: Hardware(driver: "e1000e"),
      medium: .ethernet,
      because: "plain Ethernet"
    ),
    Row(
      name: "cable named as Wi-Fi",
      link: link("wlan9", kind: "veth"),
      medium: .ethernet,
      isVirtual: true,
      because: "a name proves nothing"
    ),
    Row(
      name: "dummy",
      link: link("dummy0", kind: "dummy"),
      medium: .other,
      isVirtual: true,
      because: "no sign decides"
    ),
    Row(
      name: "raw IP modem without sysfs",
      link: link("rmnet0", HardwareType.rawIP),
      medium: .cellular,
      because: "ARPHRD 519 is used by modems only"
    ),
    Row(
      name: "unheard-of hardware",
      link: link("x0", 4711),
      medium: .other,
      because: "unknown means connected over unknown hardware"
    ),
    Row(
      name: "unheard-of kind",
      link: link("x0", kind: "telepathy"),
      medium: .other,
      isVirtual: true,
      because: "a software device over unknown hardware"
    ),
  ]
}

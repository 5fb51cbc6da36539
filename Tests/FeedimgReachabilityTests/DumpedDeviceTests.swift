import FeedimgModel
import Testing

@testable import FeedimgReachability

/// Devices as the kernel of Tests/Netlab shows them, in the numbers and names that `--dumps` writes.
@Suite struct DumpedDeviceTests {
  struct Row: CustomTestStringConvertible, Sendable {
    /// The scenario of the lab.
    var scenario: String
    var link: Link
    var hardware = Hardware()
    var stacking = LinkStacking.end
    /// Nil if the link below decides.
    var medium: NetworkKind?
    var isTether = false
    var testDescription: String { "\(scenario): \(link.name)" }
  }

  @Test(arguments: rows)
  func `a device of the lab is classified as the scenario says, also without nl80211`(_ row: Row) {
    let hasDevice = row.hardware != Hardware()
    #expect(LinkStacking(row.link, hasDevice: { hasDevice }) == row.stacking)
    guard let medium = row.medium else { return }
    let result = LinkClassifier.classify(row.link, row.hardware)
    #expect(result.medium == medium)
    #expect(result.isTether == row.isTether)
  }

  private static func usb(_ name: String, _ type: UInt16 = 1, interface: Int = 0) -> Link {
    Link(index: 9, name: name, hardwareType: type, parentDevice: "1-1:1.\(interface)", parentBus: "usb")
  }

  private static func radio(_ type: UInt16 = 1) -> Link {
    Link(index: 5, name: "wlan0", hardwareType: type, parentDevice: "hwsim1")
  }

  private static func soft(_ name: String, _ type: UInt16, _ kind: String, lower: Int32? = nil) -> Link {
    Link(index: 11, name: name, hardwareType: type, kind: kind, lower: lower)
  }

  private static let wlan = Hardware(deviceType: "wlan", driver: "mac80211_hwsim")

  private static func shared(_ driver: String, _ vendor: UInt16, serial: Bool = false) -> Hardware {
    Hardware(driver: driver, usb: USBDevice(vendor: vendor, hasSerialPort: serial))
  }

  static let rows: [Row] = [
    Row(scenario: "wifi", link: radio(), hardware: wlan, medium: .wifi),
    Row(scenario: "wifi-listening", link: radio(803), hardware: wlan, medium: .offline),
    Row(
      scenario: "ethernet-pci",
      link: Link(index: 2, name: "enp0s5", parentDevice: "0000:00:03.0", parentBus: "pci"),
      hardware: Hardware(driver: "e1000e"),
      medium: .ethernet
    ),
    Row(
      scenario: "usb-ethernet",
      link: usb("usb0"),
      hardware: shared("cdc_ether", 0x0bda),
      medium: .ethernet
    ),
    Row(
      scenario: "usb-modem-serial",
      link: usb("usb0"),
      hardware: shared("cdc_ether", 0x2cb7, serial: true),
      medium: .cellular
    ),
    Row(
      scenario: "usb-tether-iphone",
      link: usb("eth0", interface: 2),
      hardware: Hardware(driver: "ipheth"),
      medium: .cellular,
      isTether: true
    ),
    Row(
      scenario: "usb-tether-ncm",
      link: usb("usb0"),
      hardware: shared("cdc_ncm", 0x18d1),
      medium: .cellular,
      isTether: true
    ),
    Row(
      scenario: "usb-tether-rndis",
      link: usb("usb0"),
      hardware: Hardware(driver: "rndis_host"),
      medium: .cellular,
      isTether: true
    ),
    Row(scenario: "wwan", link: soft("wwan0", 65534, "wwan"), medium: .cellular),
    Row(
      scenario: "wwan-usb-ecm",
      link: usb("wwan0"),
      hardware: Hardware(
        deviceType: "wwan",
        driver: "cdc_ether",
        usb: USBDevice(vendor: 0x19d2, hasSerialPort: false)
      ),
      medium: .cellular
    ),
    Row(
      scenario: "wwan-usb-mbim",
      link: usb("wwan0"),
      hardware: Hardware(deviceType: "wwan", driver: "cdc_mbim"),
      medium: .cellular
    ),
    Row(
      scenario: "wwan-usb-qmi-raw",
      link: usb("wwan0", 65534),
      hardware: Hardware(deviceType: "wwan", driver: "qmi_wwan"),
      medium: .cellular
    ),
    Row(
      scenario: "wwan-usb-qmi-raw, multiplexed",
      link: Link(index: 10, name: "qmimux0", hardwareType: 65534),
      stacking: .tunnel(to: nil)
    ),
    Row(scenario: "wwan-usb-rmnet", link: soft("rmnet0", 519, "rmnet", lower: 9), medium: .cellular),
    Row(scenario: "ethernet", link: soft("eth0", 1, "veth", lower: 2), medium: .ethernet),
    Row(scenario: "dummy", link: soft("dummy0", 1, "dummy"), medium: .other),
    Row(scenario: "bridge-ethernet", link: soft("br0", 1, "bridge"), stacking: .ports),
    Row(scenario: "bond-ethernet", link: soft("bond0", 1, "bond"), stacking: .ports),
    Row(scenario: "vrf-other", link: soft("blue", 1, "vrf"), stacking: .ports),
    Row(scenario: "macvlan-ethernet", link: soft("macvlan0", 1, "macvlan", lower: 7), stacking: .on(7)),
    Row(scenario: "vlan-wifi", link: soft("wlan0.7", 1, "vlan", lower: 5), stacking: .on(5)),
    Row(scenario: "vlan-wifi, ipvlan", link: soft("ipvlan0", 1, "ipvlan", lower: 5), stacking: .on(5)),
    Row(scenario: "ppp-usb-modem", link: soft("ppp0", 512, "ppp"), stacking: .ppp),
    Row(scenario: "vpn-tun-wifi", link: soft("tun0", 65534, "tun"), stacking: .tunnel(to: nil)),
    Row(scenario: "vpn-wg-wifi-quick", link: soft("wg0", 65534, "wireguard"), stacking: .tunnel(to: nil)),
    Row(scenario: "vpn-gre-wwan", link: soft("gre1", 778, "gre"), stacking: .tunnel(to: nil)),
    Row(scenario: "vpn-xfrm-wifi", link: soft("ipsec0", 65534, "xfrm", lower: 5), stacking: .on(5)),
  ]
}

import FeedimgSystem
import FeedimgTesting
import Testing

@testable import FeedimgReachability

@Suite struct LinkMessageTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var recording: Recording
    var link: Link
    var testDescription: String { link.name + (link.kind.map { " (\($0))" } ?? "") }
  }

  @Test(arguments: rows)
  func `a link is read from its message`(_ row: Row) {
    #expect(row.recording.read { Link($0) } == row.link)
  }

  private static let usable = LinkFlags.usable | 0x1000  // IFF_MULTICAST
  private static let cable = usable | 0x2  // IFF_BROADCAST

  static let rows: [Row] = [
    Row(
      recording: LinkRecordings.wifi,
      link: Link(
        index: 5,
        name: "wlan0",
        flags: cable,
        operationalState: OperationalState.up,
        hasCarrier: true,
        parentDevice: "hwsim1",
        carrierUps: 1
      )
    ),
    Row(
      recording: LinkRecordings.qmi,
      link: Link(
        index: 9,
        name: "wwan0",
        flags: cable,
        hasCarrier: true,
        parentDevice: "1-1:1.0",
        parentBus: "usb"
      )
    ),
    Row(
      recording: LinkRecordings.wwan,
      link: Link(
        index: 7,
        name: "wwan0",
        hardwareType: HardwareType.none,
        flags: LinkFlags.usable | 0x90,  // IFF_POINTOPOINT, IFF_NOARP
        hasCarrier: true,
        kind: "wwan",
        parentDevice: "wwan0"
      )
    ),
    Row(
      recording: LinkRecordings.wireguard,
      link: Link(
        index: 10,
        name: "wg0",
        hardwareType: HardwareType.none,
        flags: LinkFlags.usable | 0x90,
        hasCarrier: true,
        kind: "wireguard"
      )
    ),
    Row(
      recording: LinkRecordings.gre,
      link: Link(
        index: 12,
        name: "gre1",
        hardwareType: 778,
        flags: LinkFlags.usable | 0x90,
        hasCarrier: true,
        kind: "gre",
        remote: .v4(0xc633_640a)
      )
    ),
    Row(
      recording: LinkRecordings.bond,
      link: Link(
        index: 15,
        name: "bond0",
        flags: cable | 0x400,  // IFF_MASTER
        operationalState: OperationalState.up,
        hasCarrier: true,
        kind: "bond",
        activePort: 13,
        carrierUps: 1
      )
    ),
    Row(
      recording: LinkRecordings.port,
      link: Link(
        index: 13,
        name: "eth0",
        flags: cable | 0x800,  // IFF_SLAVE
        operationalState: OperationalState.up,
        hasCarrier: true,
        kind: "veth",
        lower: 6,
        isLowerElsewhere: true,
        master: 15,
        carrierUps: 2
      )
    ),
    Row(
      recording: LinkRecordings.vlan,
      link: Link(
        index: 20,
        name: "wlan0.7",
        flags: cable,
        hasCarrier: true,
        kind: "vlan",
        lower: 5
      )
    ),
  ]

  @Test func `a message truncated anywhere is one link or none`() {
    let whole = LinkRecordings.bond.bytes
    for length in 0...whole.count {
      var bytes = Array(whole.prefix(length))
      if length >= 4 { bytes.replaceSubrange(0..<4, with: withUnsafeBytes(of: UInt32(length), Array.init)) }
      let link = bytes.withUnsafeBytes { bytes in
        var messages = NetlinkMessages(bytes)
        return messages.next().flatMap { Link($0) }
      }
      #expect(link == nil || link?.name == "bond0")
    }
  }

  @Test func `invalid lengths end the reading`() {
    for length: UInt16 in [0, 1, 3, 200, .max] {
      let bytes = withUnsafeBytes(of: (length, UInt16(3), UInt64(0)), Array.init)
      #expect(bytes.withUnsafeBytes { Attributes($0).map(\.type) }.isEmpty, "attribute of \(length)")
    }
    for length: UInt32 in [0, 15, 200, .max] {
      let bytes = withUnsafeBytes(of: (length, UInt32(3), UInt64(0)), Array.init)
      #expect(bytes.withUnsafeBytes { NetlinkMessages($0).map(\.type) }.isEmpty, "message of \(length)")
    }
  }
}

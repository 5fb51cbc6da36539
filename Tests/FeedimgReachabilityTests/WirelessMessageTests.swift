import FeedimgTesting
import Testing

@testable import FeedimgReachability

@Suite struct WirelessMessageTests {
  @Test func `the mode distinguishes a client from an access point`() {
    #expect(WirelessRecordings.station.read { WirelessMessages.mode($0) } == .client)
    #expect(WirelessRecordings.accessPoint.read { WirelessMessages.mode($0) } == .accessPoint)
  }

  @Test func `the connected network has its name and metering`() throws {
    let network = try #require(WirelessRecordings.limited.read { WirelessMessages.joinedNetwork($0) })
    #expect(network.name == "netlab")
    #expect(network.accessPoint == 0x0200_0000_0000)
    #expect(network.cost == .metered("the access point reports that its data is limited"))
  }

  @Test func `an iPhone is recognised by its element and a random address`() throws {
    let network = try #require(WirelessRecordings.phone.read { WirelessMessages.joinedNetwork($0) })
    #expect(network.cost == .phone("the access point looks like an iPhone's hotspot"))
  }

  @Test func `a network without a connection does not count`() {
    #expect(WirelessRecordings.notJoined.read { WirelessMessages.joinedNetwork($0) } == nil)
  }

  struct Beacon: CustomTestStringConvertible, Sendable {
    var name: String
    var elements: Recording
    var accessPoint: UInt64 = 0x00_11_22_33_44_55
    var cost: WirelessCost
    var testDescription: String { name }
  }

  @Test(arguments: beacons)
  func `a beacon reports metering`(_ beacon: Beacon) {
    var network = WirelessNetwork(accessPoint: beacon.accessPoint)
    beacon.elements.payload { network.read(InformationElements($0)) }
    #expect(network.cost == beacon.cost)
  }

  private static let limited = WirelessCost.metered("the access point reports that its data is limited")
  private static let usedUp = WirelessCost.metered("the access point reports that its data limit is used up")
  private static let shared = WirelessCost.phone("the access point shares the connection of a device")
  private static let iPhone = WirelessCost.phone("the access point looks like an iPhone's hotspot")
  private static let android = WirelessCost.phone("the access point has the address of an Android phone")

  private static let beacons: [Beacon] = [
    Beacon(name: "nothing", elements: Recording("0006 6e65746c6162"), cost: .notAnnounced),
    Beacon(name: "level unknown", elements: Recording("dd08 0050f211 00000000"), cost: .notAnnounced),
    Beacon(name: "level unrestricted", elements: Recording("dd08 0050f211 01000000"), cost: .free),
    Beacon(name: "level fixed", elements: Recording("dd08 0050f211 02000000"), cost: limited),
    Beacon(
      name: "level variable",
      elements: Recording("dd08 0050f211 04000000"),
      cost: .metered("the access point reports that data costs by volume")
    ),
    Beacon(name: "over the limit", elements: Recording("dd08 0050f211 01000100"), cost: usedUp),
    Beacon(
      name: "a level of another time",
      elements: Recording("dd08 0050f211 77000000"),
      cost: .notAnnounced
    ),
    Beacon(name: "too short", elements: Recording("dd06 0050f211 0200"), cost: .notAnnounced),
    Beacon(name: "cut off", elements: Recording("dd08 0050f211 02"), cost: .notAnnounced),
    Beacon(name: "shared by a device", elements: Recording("dd08 0050f212 2b000200"), cost: shared),
    Beacon(
      name: "free, and shared by a device",
      elements: Recording("dd08 0050f211 01000000 dd08 0050f212 2b000200"),
      cost: .free
    ),
    Beacon(
      name: "shared by a device, and limited",
      elements: Recording("dd08 0050f212 2b000200 dd08 0050f211 02000000"),
      cost: limited
    ),
    Beacon(name: "Apple's router", elements: Recording("dd04 0017f20a"), cost: .notAnnounced),
    Beacon(
      name: "Apple's phone",
      elements: Recording("dd04 0017f20a"),
      accessPoint: 0x02_11_22_33_44_55,
      cost: iPhone
    ),
    Beacon(name: "old Android", elements: Recording(""), accessPoint: 0x02_1a_11_33_44_55, cost: android),
  ]

  @Test func `a name that is not text is nil`() {
    for elements in [Recording("0003 ff00fe"), Recording("0000"), Recording("0003 000000")] {
      var network = WirelessNetwork()
      elements.payload { network.read(InformationElements($0)) }
      #expect(network.name == nil || network.name == "", "\(elements)")
    }
  }
}

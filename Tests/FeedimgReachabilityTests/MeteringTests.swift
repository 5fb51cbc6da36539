import FeedimgModel
import FeedimgSystem
import Testing

@testable import FeedimgReachability

@Suite struct MeteringTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    var medium: NetworkKind
    var isTether = false
    var isVirtual = false
    var cost = WirelessCost.notAnnounced
    var statements: [Metering.Statement] = []
    var isRoaming = false
    var metered: Metered
    var reason: String
    var testDescription: String { name }
  }

  @Test func `the gateway address identifies an iPhone hotspot`() {
    let wifi = LinkClass(medium: .wifi, reason: "")
    #expect(Metering(end: wifi, gateway: .v4(0xac14_0a01)).verdict.metered == .yes)
    #expect(Metering(end: wifi, gateway: .v4(0xac14_0a02)).verdict.metered == .no)
  }

  @Test func `an address that a phone assigned is metered, over Wi-Fi and cable`() {
    for medium in [NetworkKind.wifi, .ethernet] {
      let metering = Metering(end: LinkClass(medium: medium, reason: ""), isLeasedByPhone: true)
      #expect(metering.verdict.metered == .yes)
    }
  }

  @Test(arguments: [
    ("ADDRESS=192.0.2.2\nVENDOR_SPECIFIC=414e44524f49445f4d455445524544\n", true),
    ("VENDOR_SPECIFIC=00414E44524F49445F4D45544552454400", true),
    ("VENDOR_SPECIFIC=0102", false),
    ("HOSTNAME=414e44524f49445f4d455445524544", false),
    ("", false),
  ])
  func `the lease of an Android phone is recognised by the vendor option`(_ text: String, _ isOfPhone: Bool) {
    #expect(Lease.isOfPhone(text) == isOfPhone)
  }

  @Test(arguments: rows)
  func `statements of users precede signs, and signs precede kinds`(_ row: Row) {
    let metering = Metering(
      end: LinkClass(medium: row.medium, isTether: row.isTether, isVirtual: row.isVirtual, reason: ""),
      wireless: WirelessNetwork(cost: row.cost),
      statements: row.statements,
      isRoaming: row.isRoaming
    )
    #expect(metering.verdict == (row.metered, row.reason))
  }

  private static let rows: [Row] = [
    Row(name: "cellular", medium: .cellular, metered: .yes, reason: "the data is mobile data"),
    Row(
      name: "phone",
      medium: .cellular,
      isTether: true,
      metered: .yes,
      reason: "the data is a phone's mobile data"
    ),
    Row(name: "Wi-Fi", medium: .wifi, metered: .no, reason: "there is no sign that data costs on this Wi-Fi"),
    Row(
      name: "Wi-Fi that says that it costs",
      medium: .wifi,
      cost: .metered("it says so"),
      metered: .yes,
      reason: "it says so"
    ),
    Row(name: "hotspot", medium: .wifi, cost: .phone("a phone"), metered: .yes, reason: "a phone"),
    Row(
      name: "Wi-Fi that says that it is free",
      medium: .wifi,
      cost: .free,
      metered: .no,
      reason: "the access point reports that data is free"
    ),
    Row(
      name: "Ethernet",
      medium: .ethernet,
      metered: .no,
      reason: "there is no sign that data costs on this Ethernet"
    ),
    Row(
      name: "container",
      medium: .ethernet,
      isVirtual: true,
      metered: .unknown,
      reason: "the hardware behind the virtual link is unknown"
    ),
    Row(
      name: "unknown",
      medium: .other,
      metered: .unknown,
      reason: "the hardware that carries the data is unknown"
    ),
    Row(
      name: "the user against the modem",
      medium: .cellular,
      statements: [.user(.no)],
      metered: .no,
      reason: "the user marked this network as not metered"
    ),
    Row(
      name: "the user against NetworkManager",
      medium: .ethernet,
      statements: [.user(.yes), .networkManager(.no)],
      metered: .yes,
      reason: "the user marked this network as metered"
    ),
    Row(
      name: "NetworkManager against the beacon",
      medium: .wifi,
      cost: .metered("it says so"),
      statements: [.networkManager(.no)],
      metered: .no,
      reason: "NetworkManager reports it"
    ),
    Row(
      name: "the portal against the beacon",
      medium: .wifi,
      cost: .free,
      statements: [.portal],
      metered: .yes,
      reason: "the desktop portal reports it"
    ),
    Row(
      name: "no word",
      medium: .wifi,
      statements: [.user(.unknown), .networkManager(.unknown)],
      metered: .no,
      reason: "there is no sign that data costs on this Wi-Fi"
    ),
    Row(
      name: "foreign network",
      medium: .cellular,
      isRoaming: true,
      metered: .yes,
      reason: "the modem is roaming"
    ),
  ]
}

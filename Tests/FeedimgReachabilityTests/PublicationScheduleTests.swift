import FeedimgModel
import Testing

@testable import FeedimgReachability

@Suite struct PublicationScheduleTests {
  /// The state that is read at a millisecond, and the states published by then.
  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    var seen: [(milliseconds: Int, state: NetworkState)]
    var told: [(milliseconds: Int, kind: NetworkKind)]
    var because: String
    var testDescription: String { name }
  }

  @Test(arguments: rows)
  func `a metered network is published at once, an unmetered one and offline later`(_ row: Row) {
    var schedule = PublicationSchedule()
    var told: [String] = []
    for millisecond in 0...4000 {
      let now = Duration.milliseconds(millisecond)
      if let state = schedule.expire(at: now) { told.append("\(millisecond) \(state.kind)") }
      for seen in row.seen where seen.milliseconds == millisecond {
        if let state = schedule.observe(seen.state, at: now) { told.append("\(millisecond) \(state.kind)") }
      }
    }
    #expect(told == row.told.map { "\($0.milliseconds) \($0.kind)" }, "\(row.because)")
  }

  private static let wifi = state(.wifi, .no, "wlan0")
  private static let hotspot = state(.wifi, .yes, "wlan0")
  private static let cable = state(.ethernet, .no, "eth0")
  private static let modem = state(.cellular, .yes, "wwan0")
  private static let unknown = state(.other, .unknown, "tun0")
  private static let offline = NetworkState.offline("no route")

  private static func state(_ kind: NetworkKind, _ metered: Metered, _ device: String) -> NetworkState {
    NetworkState(kind: kind, metered: metered, device: device, via: [device], reason: "", meteredReason: "")
  }

  private static let rows: [Row] = [
    Row(
      name: "the first state",
      seen: [(0, offline)],
      told: [(0, .offline)],
      because: "the first state is published at once"
    ),
    Row(
      name: "Wi-Fi to cellular",
      seen: [(0, wifi), (100, modem)],
      told: [(0, .wifi), (100, .cellular)],
      because: "avoids every unwanted byte"
    ),
    Row(
      name: "Wi-Fi to a hotspot",
      seen: [(0, wifi), (100, hotspot)],
      told: [(0, .wifi), (100, .wifi)],
      because: "the metering is worse, though the kind is the same"
    ),
    Row(
      name: "cellular to Wi-Fi",
      seen: [(0, modem), (100, wifi)],
      told: [(0, .cellular), (600, .wifi)],
      because: "it may be temporary"
    ),
    Row(
      name: "Wi-Fi seen for a moment",
      seen: [(0, modem), (100, wifi), (400, modem)],
      told: [(0, .cellular)],
      because: "no value that policies use changed"
    ),
    Row(
      name: "unmetered, and then another unmetered network",
      seen: [(0, modem), (100, wifi), (300, cable)],
      told: [(0, .cellular), (600, .ethernet)],
      because: "unmetered for half a second, over either"
    ),
    Row(
      name: "less metered in two steps",
      seen: [(0, modem), (100, unknown), (300, wifi)],
      told: [(0, .cellular), (800, .wifi)],
      because: "each must stay for half a second"
    ),
    Row(
      name: "Ethernet to Wi-Fi",
      seen: [(0, cable), (100, wifi)],
      told: [(0, .ethernet), (100, .wifi)],
      because: "the cost is the same"
    ),
    Row(
      name: "offline",
      seen: [(0, wifi), (100, offline)],
      told: [(0, .wifi), (1350, .offline)],
      because: "the kernel may be a second late"
    ),
    Row(
      name: "a gap",
      seen: [(0, wifi), (100, offline), (900, wifi)],
      told: [(0, .wifi)],
      because: "a handover is not a loss"
    ),
    Row(
      name: "a gap before another network",
      seen: [(0, wifi), (100, offline), (900, modem)],
      told: [(0, .wifi), (900, .cellular)],
      because: "metered at once"
    ),
    Row(
      name: "back from offline",
      seen: [(0, offline), (100, wifi)],
      told: [(0, .offline), (100, .wifi)],
      because: "nothing was downloaded before"
    ),
  ]
}

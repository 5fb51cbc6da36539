import FeedimgSystem
import FoundationEssentials
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Batteries as the kernel reports them, in files with the same names and contents.
@Suite struct BatteryReaderTests {
  struct Row: CustomTestStringConvertible {
    var testDescription: String
    /// The files of each power supply.
    var supplies: [String: [String: String]]
    var percent: Int?
    var source: String
  }

  private static let rows = [
    Row(testDescription: "a desktop has no power supply", supplies: [:], percent: nil, source: "no battery"),
    Row(
      testDescription: "a laptop beside its mains adapter",
      supplies: [
        "AC": ["type": "Mains", "online": "1"],
        "BAT0": ["type": "Battery", "capacity": "81", "status": "Discharging", "scope": "System"],
      ],
      percent: 81,
      source: "BAT0, discharging"
    ),
    Row(
      testDescription: "the battery of a mouse does not count",
      supplies: ["hid-00-battery": ["type": "Battery", "capacity": "5", "scope": "Device"]],
      percent: nil,
      source: "no battery"
    ),
    Row(
      testDescription: "two batteries count by their capacities",
      supplies: [
        "BAT0": [
          "type": "Battery", "capacity": "100", "status": "Full", "energy_now": "20000000",
          "energy_full": "20000000",
        ],
        "BAT1": [
          "type": "Battery", "capacity": "25", "status": "Not charging", "energy_now": "15000000",
          "energy_full": "60000000",
        ],
      ],
      percent: 44,
      source: "BAT0, full; BAT1, not charging"
    ),
    Row(
      testDescription: "without energy values the mean counts",
      supplies: [
        "BAT0": ["type": "Battery", "capacity": "20", "status": "Charging"],
        "BAT1": ["type": "Battery", "capacity": "61"],
      ],
      percent: 41,
      source: "BAT0, charging; BAT1, unknown"
    ),
    Row(
      testDescription: "an empty bay and a battery without values do not count",
      supplies: [
        "BAT0": ["type": "Battery", "present": "0", "capacity": "0"], "BAT1": ["type": "Battery"],
      ],
      percent: nil,
      source: "no battery"
    ),
    Row(
      testDescription: "the charge is computed from the energy and is at most 100",
      supplies: ["BAT0": ["type": "Battery", "energy_now": "51", "energy_full": "50", "status": "Full"]],
      percent: 100,
      source: "BAT0, full"
    ),
  ]

  @Test(arguments: rows)
  func `the charge is that of the machine's own batteries`(row: Row) throws {
    let root = FileManager.default.temporaryDirectory.path + "/feedimg-battery-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    for (name, files) in row.supplies {
      let folder = "\(root)/sys/class/power_supply/\(name)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for (file, text) in files { try Data((text + "\n").utf8).write(to: URL(filePath: "\(folder)/\(file)")) }
    }
    let reading = BatteryReader(files: SystemFiles(root: root)).read()
    #expect(reading == BatteryReading(percent: row.percent, source: row.source))
  }
}

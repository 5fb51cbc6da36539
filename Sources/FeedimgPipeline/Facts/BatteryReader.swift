package import FeedimgSystem

/// The charge of this machine's batteries at one moment.
package struct BatteryReading: Sendable, Hashable {
  /// The charge in percent; nil without a battery.
  package var percent: Int?
  /// The source in words, such as `BAT0, discharging`.
  package var source: String
}

/// Reads the batteries from the kernel's power supplies (`/sys/class/power_supply`).
///
/// The batteries of mice, phones and other devices do not count: their `scope` is `Device`.
package struct BatteryReader: Sendable {
  private let files: SystemFiles

  package init(files: SystemFiles = SystemFiles()) { self.files = files }

  private static let folder = "/sys/class/power_supply"

  /// Reads the charge, which takes about ten microseconds for each battery.
  ///
  /// Several batteries count by their capacities, or all alike if one reports no energy.
  package func read() -> BatteryReading {
    let names = files.names(in: Self.folder).filter { !$0.hasPrefix(".") }
    let batteries = names.sorted().compactMap(battery)
    guard !batteries.isEmpty else { return BatteryReading(percent: nil, source: "no battery") }
    let isWeighted = batteries.allSatisfy { $0.full > 0 }
    let weights = batteries.map { isWeighted ? $0.full : 1 }
    let sum = zip(batteries, weights).reduce(0) { $0 + $1.0.percent * $1.1 }
    return BatteryReading(
      percent: Int(min(max(sum / weights.reduce(0, +), 0), 100).rounded()),
      source: batteries.map(\.source).joined(separator: "; ")
    )
  }

  private func battery(_ name: String) -> (percent: Double, full: Double, source: String)? {
    func word(_ file: String) -> String? {
      files.read("\(Self.folder)/\(name)/\(file)").map { String($0.prefix { $0 != "\n" }) }
    }
    func number(_ file: String) -> Double? { word(file).flatMap { Double($0) } }
    guard word("type") == "Battery", word("scope") != "Device", word("present") != "0" else { return nil }
    // Some batteries report their energy alone.
    let full = number("energy_full") ?? 0
    let share = number("energy_now").map { $0 / full * 100 }
    guard let percent = number("capacity") ?? share, percent.isFinite else { return nil }
    return (percent, full.isFinite ? full : 0, "\(name), \(word("status")?.lowercased() ?? "unknown")")
  }
}

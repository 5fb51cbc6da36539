import FeedimgPolicy
import FeedimgSystem

/// The charge of this machine's batteries at one moment.
package struct BatteryReading: Sendable, Hashable {
  /// The charge in percent; nil without a battery.
  package var percent: Int?
  /// The source in words, such as `BAT0, discharging`.
  package var source: String
}

extension BatteryReading {
  /// Reads the battery; nil if a policy does not depend on it.
  init?(for policy: CompiledPolicy) {
    guard policy.needsBattery else { return nil }
    self = BatteryReader().read()
  }
}

/// Reads the batteries from the kernel's power supplies (`/sys/class/power_supply`).
///
/// The batteries of mice, phones and other devices do not count: their `scope` is `Device`.
package struct BatteryReader: Sendable {
  var files = SystemFiles()

  package init() {}

  init(files: SystemFiles) { self.files = files }

  private static let folder = "/sys/class/power_supply"

  /// Reads the charge, which takes about ten microseconds for each battery.
  ///
  /// With several batteries, the charge is their total energy divided by their total capacity. If one of them
  /// reports no energy, it is the mean of their percentages.
  package func read() -> BatteryReading {
    let batteries = names().compactMap(battery)
    guard !batteries.isEmpty else { return BatteryReading(percent: nil, source: "no battery") }
    let full = batteries.reduce(0) { $0 + $1.full }
    let percent =
      batteries.contains { $0.full <= 0 }
      ? batteries.reduce(0) { $0 + $1.percent } / Double(batteries.count)
      : batteries.reduce(0) { $0 + $1.now } / full * 100
    return BatteryReading(
      percent: Int(min(max(percent, 0), 100).rounded()),
      source: batteries.map { "\($0.name), \($0.status)" }.joined(separator: "; ")
    )
  }

  private struct Battery {
    var name: String
    var status: String
    var percent: Double
    /// The energy in microwatt-hours; zero if the battery reports none.
    var now = 0.0
    var full = 0.0
  }

  private func battery(_ name: String) -> Battery? {
    func word(_ file: String) -> String? {
      files.read("\(Self.folder)/\(name)/\(file)").map { String($0.prefix { $0 != "\n" }) }
    }
    func number(_ file: String) -> Double? {
      files.readNumber("\(Self.folder)/\(name)/\(file)").map { Double($0) }
    }
    guard word("type") == "Battery", word("scope") != "Device", word("present") != "0" else { return nil }
    let energy = number("energy_now").flatMap { now in number("energy_full").map { (now: now, full: $0) } }
    let share = energy.flatMap { $0.full > 0 ? $0.now / $0.full * 100 : nil }
    guard let percent = number("capacity") ?? share else { return nil }
    return Battery(
      name: name,
      status: word("status")?.lowercased() ?? "unknown",
      percent: percent,
      now: energy?.now ?? 0,
      full: energy?.full ?? 0
    )
  }

  private func names() -> [String] {
    let names = (try? FilePath.names(in: files.path(Self.folder))) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted()
  }
}

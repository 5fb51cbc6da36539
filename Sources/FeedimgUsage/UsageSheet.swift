import FeedimgModel

/// The sums of what was received, by day and network (pure).
struct UsageSheet: Sendable, Hashable {
  private struct Slot: Hashable {
    var day: CalendarDay
    var network: NetworkKind
    var metered: Metered
  }

  private struct Amount: Hashable {
    var bytes = 0
    var transfers = 0

    mutating func add(_ bytes: Int, _ transfers: Int) {
      self.bytes = Self.sum(self.bytes, bytes)
      self.transfers = Self.sum(self.transfers, transfers)
    }

    /// The greatest number where a sum would be greater.
    private static func sum(_ left: Int, _ right: Int) -> Int {
      let (sum, isTooGreat) = left.addingReportingOverflow(right)
      return isTooGreat ? .max : sum
    }
  }

  private var sums: [Slot: Amount] = [:]
  /// Lines that were torn, or written by something else; they are kept, but count nothing.
  private(set) var foreignLines: [[UInt8]] = []
  /// How many bytes they have, with their ends.
  private(set) var foreignLength = 0

  init() {}

  /// Adds up the lines of a ledger; lines that begin with `#` are remarks.
  ///
  /// A last line without its end is about to be written or was torn, and does not count yet.
  init(_ text: [UInt8]) { add(lines: text[...]) }

  /// Adds up lines, as far as they have their ends.
  mutating func add(lines: ArraySlice<UInt8>) {
    var rest = lines
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      guard let first = line.first, first != UInt8(ascii: "#") else { continue }
      if let usage = UsageLine(line)?.usage { add(usage) } else { addForeign(line) }
    }
  }

  private mutating func addForeign(_ line: ArraySlice<UInt8>) {
    foreignLines.append(Array(line))
    foreignLength += line.count + 1
  }

  var isEmpty: Bool { sums.isEmpty }

  mutating func add(_ usage: NetworkUsage) {
    let slot = Slot(day: usage.day, network: usage.network, metered: usage.metered)
    sums[slot, default: Amount()].add(usage.received.bytes, usage.transfers)
  }

  mutating func add(_ other: UsageSheet) {
    for (slot, amount) in other.sums { sums[slot, default: Amount()].add(amount.bytes, amount.transfers) }
  }

  /// The sums of days within a range, in the order of days, networks and prices.
  func usage(on days: ClosedRange<CalendarDay>? = nil) -> [NetworkUsage] {
    sums.lazy.filter { days?.contains($0.key.day) ?? true }.map { slot, amount in
      NetworkUsage(
        day: slot.day,
        network: slot.network,
        metered: slot.metered,
        received: ByteCount(amount.bytes),
        transfers: amount.transfers
      )
    }
    .sorted { $0.order < $1.order }
  }

  /// One line for each sum.
  var lines: [UInt8] { usage().flatMap { UsageLine($0).bytes } }

  /// What a ledger with the same sums in as few lines as possible says.
  ///
  /// Lines that nobody understood stay: another version may have written them.
  var compacted: [UInt8] {
    Self.heading + foreignLines.flatMap { $0 + [UInt8(ascii: "\n")] } + lines
  }

  /// How many bytes of a text are lines that have their end.
  static func lengthOfLines(_ text: [UInt8]) -> Int {
    text.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
  }

  /// The first line of each ledger.
  static let heading = Array("# feedimg usage: day, network, price, bytes received, transfers\n".utf8)
}

extension NetworkUsage {
  fileprivate var order: (CalendarDay, Int, Int) {
    (
      day, NetworkKind.allCases.firstIndex(of: network) ?? 0, Metered.allCases.firstIndex(of: metered) ?? 0
    )
  }
}

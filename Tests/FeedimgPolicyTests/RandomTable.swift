import FeedimgModel

/// A random policy with an independent evaluator.
///
/// Its Markdown goes through the whole engine. ``rule(in:)`` evaluates it row by row, without the engine.
struct RandomTable {
  /// One column left of the arrow.
  enum Column: CaseIterable {
    case network, metered, roaming, dataSaver, alwaysOriginal, original, thumbnail
    case size, budgetLeft, bandwidth, battery, fits

    var name: String {
      switch self {
      case .dataSaver: "data saver"
      case .alwaysOriginal: "always original"
      case .budgetLeft: "budget left"
      default: "\(self)"
      }
    }

    /// The words, or nil for a quantity.
    var words: [String]? {
      switch self {
      case .network: ["wifi", "ethernet", "cellular", "other", "offline"]
      case .metered, .fits: self == .fits ? ["no", "yes", "unknown"] : ["no", "yes", "unknown"]
      case .roaming, .alwaysOriginal: ["no", "yes"]
      case .dataSaver: ["off", "on"]
      case .original, .thumbnail: ["cached", "remote", "none"]
      case .size, .budgetLeft, .bandwidth, .battery: nil
      }
    }

    /// Quantities to compare with, as numbers and as a table may write them.
    var thresholds: [(Int, [String])] {
      switch self {
      case .size: [(300_000, ["300 kB", "0.3 MB", "300000 B"]), (300_001, ["300001 B"]), (0, ["0 B"])]
      case .budgetLeft: [(20_000_000, ["20 MB", "0.02 GB"]), (500_000_000, ["500 MB", "0.5GB"])]
      case .bandwidth: [(1_000_000, ["1 Mbit/s", "1000kbit/s"]), (5_500_000, ["5.5 Mbit/s"])]
      case .battery: [(20, ["20 %", "20%"]), (100, ["100 %"])]
      default: []
      }
    }

    /// The fact's value: the index of a word, a quantity, or -1 if unknown.
    func key(_ situation: Situation) -> Int {
      switch self {
      case .network: NetworkKind.allCases.firstIndex(of: situation.network) ?? 0
      case .metered: situation.metered == .no ? 0 : situation.metered == .yes ? 1 : 2
      case .roaming: situation.isRoaming ? 1 : 0
      case .dataSaver: situation.savesData ? 1 : 0
      case .alwaysOriginal: situation.alwaysOriginal ? 1 : 0
      case .original: situation.original == .cached ? 0 : situation.original == .remote ? 1 : 2
      case .thumbnail: situation.thumbnail == .cached ? 0 : situation.thumbnail == .remote ? 1 : 2
      case .size: situation.size?.bytes ?? -1
      case .budgetLeft: situation.budgetLeft?.bytes ?? -1
      case .bandwidth: situation.bandwidth ?? -1
      case .battery: situation.battery ?? -1
      case .fits:
        if let size = situation.size?.bytes, let left = situation.budgetLeft?.bytes {
          Double(size) * 100 <= Double(left) ? 1 : 0
        } else {
          2
        }
      }
    }
  }

  /// One cell left of the arrow.
  struct Cell {
    var text: String
    /// Ranges with both bounds included; nil for `-`.
    var ranges: [ClosedRange<Int>]?
    var isNegated = false

    func holds(_ key: Int) -> Bool {
      guard let ranges else { return true }
      for range in ranges where range.contains(key) { return !isNegated }
      return isNegated
    }
  }

  var columns: [Column]
  var rows: [(cells: [Cell], image: Ceiling, upgrade: Upgrade)]

  /// The number of the first row that applies; nil in a gap.
  func rule(in situation: Situation) -> Int? {
    rule(in: situation, without: nil)
  }

  /// The same as ``rule(in:)``, without one row, counted from one.
  func rule(in situation: Situation, without absent: Int?) -> Int? {
    let keys = columns.map { $0.key(situation) }
    search: for (index, row) in rows.enumerated() where index + 1 != absent {
      for place in keys.indices where !row.cells[place].holds(keys[place]) { continue search }
      return index + 1
    }
    return nil
  }

  /// The decision in a situation; nil in a gap.
  func decision(in situation: Situation, without absent: Int? = nil) -> Decision? {
    rule(in: situation, without: absent).map { number in
      let row = rows[number - 1]
      return NaiveEvaluator.obeyingLaws((row.image, row.upgrade, number), situation)
    }
  }

  var markdown: String {
    func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }
    let header = columns.map(\.name) + ["→ image", "upgrade"]
    return line(header) + line(header.map { _ in "---" })
      + rows.map { line($0.cells.map(\.text) + [$0.image.rawValue, $0.upgrade.rawValue]) }.joined()
  }
}

extension RandomTable {
  /// A table that depends only on the state of the generator.
  static func random(using random: inout SplitMix) -> RandomTable {
    let columns = columns(using: &random)
    var rows: [(cells: [Cell], image: Ceiling, upgrade: Upgrade)] = []
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      rows.append(
        (
          columns.map { cell($0, using: &random) },
          Ceiling.allCases.randomElement(using: &random) ?? .cached,
          [Upgrade.never, .online, .onTap].randomElement(using: &random) ?? .never
        )
      )
    }
    // Most tables of real authors end in a row without conditions.
    if Int.random(in: 0..<10, using: &random) < 7 {
      rows.append((columns.map { _ in Cell(text: "-") }, .thumbnail, .never))
    }
    return RandomTable(columns: Array(columns), rows: rows)
  }

  /// Few columns, for some hundred states, including the facts of the laws.
  private static func columns(using random: inout SplitMix) -> [Column] {
    var columns: [Column] = []
    var count = 45
    for column in Column.allCases.shuffled(using: &random).prefix(4) {
      let isFree = [.network, .original, .thumbnail].contains(column)
      count *= isFree ? 1 : column.words?.count ?? column.thresholds.count * 2 + 2
      if columns.isEmpty || count <= 180 { columns.append(column) }
    }
    return columns
  }

  private static func cell(_ column: Column, using random: inout SplitMix) -> Cell {
    guard Int.random(in: 0..<10, using: &random) < 7 else { return Cell(text: "-") }
    if let words = column.words {
      let count = Int.random(in: 1..<words.count, using: &random)
      let chosen = Array(words.indices.shuffled(using: &random).prefix(count))
      let isNegated = Int.random(in: 0..<4, using: &random) == 0
      let text = chosen.map { words[$0] }.joined(separator: [", ", ","].randomElement(using: &random) ?? ",")
      return Cell(
        text: (isNegated ? "not " : "") + text,
        ranges: chosen.map { $0...$0 },
        isNegated: isNegated
      )
    }
    var first = comparison(column, using: &random)
    if Int.random(in: 0..<4, using: &random) == 0, first.text != "unknown" {
      first.text += ", unknown"
      first.ranges?.append(-1 ... -1)
    }
    return first
  }

  private static func comparison(_ column: Column, using random: inout SplitMix) -> Cell {
    guard let (bound, texts) = column.thresholds.randomElement(using: &random),
      let text = texts.randomElement(using: &random)
    else { return Cell(text: "-") }
    let least = bound == 0
    let maximum = column == .battery && bound == 100
    switch Int.random(in: 0..<7, using: &random) {
    case 0 where !least: return Cell(text: "< \(text)", ranges: [0...(bound - 1)])
    case 1: return Cell(text: "<= \(text)", ranges: [0...bound])
    case 2 where !maximum: return Cell(text: "> \(text)", ranges: [(bound + 1)...Int.max])
    case 3: return Cell(text: ">=\(text)", ranges: [bound...Int.max])
    case 4: return Cell(text: "= \(text)", ranges: [bound...bound])
    case 5:
      guard let (upper, texts) = column.thresholds.first(where: { $0.0 > bound }), let other = texts.first
      else { return Cell(text: "unknown", ranges: [-1 ... -1]) }
      return Cell(text: "\(text)..\(other)", ranges: [bound...(upper - 1)])
    default: return Cell(text: "unknown", ranges: [-1 ... -1])
    }
  }
}

/// Pseudo-random numbers, the same in each run (Steele, Lea and Flood, 2014).
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

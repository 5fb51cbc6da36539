import FeedimgModel

/// One line of a ledger: `2026-11-21 cellular metered 12345 1`.
///
/// The day, the network, its price, the bytes that were received and the transfers that ended, each to be added to what
/// the other lines say.
struct UsageLine: Hashable {
  var usage: NetworkUsage

  init(_ usage: NetworkUsage) { self.usage = usage }

  /// Reads a line without its end; nil for anything that is not exactly one.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count <= Self.greatestLength else { return nil }
    let words = bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 5,
      let day = CalendarDay(Self.text(words[0])),
      let network = NetworkKind(rawValue: Self.text(words[1])), network != .offline,
      let metered = Self.prices.first(where: { $0.word == Self.text(words[2]) })?.metered,
      let received = Self.number(words[3]), let transfers = Self.number(words[4])
    else { return nil }
    usage = NetworkUsage(
      day: day,
      network: network,
      metered: metered,
      received: ByteCount(received),
      transfers: transfers
    )
  }

  /// With its end.
  var bytes: [UInt8] {
    let price = Self.prices.first { $0.metered == usage.metered }?.word ?? ""
    let words = [
      usage.day.description, usage.network.rawValue, price, String(usage.received.bytes),
      String(usage.transfers),
    ]
    return Array((words.joined(separator: " ") + "\n").utf8)
  }

  /// The longest line has 77 bytes.
  private static let greatestLength = 80

  private static let prices: [(word: String, metered: Metered)] = [
    ("metered", .yes), ("unmetered", .no), ("unknown", .unknown),
  ]

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  /// A whole number without sign, or nil.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard !digits.isEmpty else { return nil }
    var number = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      let (tens, isTooGreat) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflows) = tens.addingReportingOverflow(Int(digit - 0x30))
      guard !isTooGreat, !overflows else { return nil }
      number = sum
    }
    return number
  }
}

package import FeedimgModel

extension StoredAnswer {
  /// When the answer was made, by its own account, else when it came (RFC 9110 §6.6.1).
  var date: Double { date("Date") ?? respondedAt }

  /// The time that a field tells; nil where there is none, or it makes no sense.
  func date(_ name: String) -> Double? {
    head.fields[name].flatMap { HTTPDate.seconds($0, now: DeltaSeconds.whole(respondedAt)) }.map(Double.init)
  }

  /// How old the answer is, in seconds (RFC 9111 §4.2.3); never negative, wherever clocks jump.
  package func age(at now: Double) -> Double {
    let apparent = max(0, respondedAt - date)
    let delay = max(0, respondedAt - requestedAt)
    let corrected = Double(head.fields.seconds("Age") ?? 0) + delay
    let resident = max(0, now - respondedAt)
    return max(apparent, corrected) + resident
  }
}

extension HTTPFields {
  /// A field that counts seconds; nil where there is none or it is no such number.
  ///
  /// Of several numbers the first counts (RFC 9111 §5.1).
  func seconds(_ name: String) -> Int? {
    self[name].flatMap { DeltaSeconds.parse($0.prefix { $0 != "," }) }
  }
}

/// Numbers of seconds (RFC 9111 §1.2.2).
package enum DeltaSeconds {
  /// What stands for any greater number.
  static let greatest = 1 << 31

  /// A time in whole seconds, safe for whatever a clock says.
  package static func whole(_ seconds: Double) -> Int { Milliseconds.count(seconds) / 1000 }

  static func parse(_ text: some StringProtocol) -> Int? {
    var bytes = Array(text.utf8)[...]
    while bytes.first == 32 || bytes.first == 9 { bytes.removeFirst() }
    while bytes.last == 32 || bytes.last == 9 { bytes.removeLast() }
    guard !bytes.isEmpty, bytes.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return bytes.reduce(0) { min($0 * 10 + Int($1 - 48), greatest) }
  }
}

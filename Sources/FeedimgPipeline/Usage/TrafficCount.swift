import FeedimgModel

/// What carries a transfer, as the ledger tells it.
struct Carrier: Sendable, Hashable {
  var network: NetworkKind
  var metered: Metered

  init(_ state: NetworkState) { (network, metered) = (state.kind, state.metered) }
}

/// What transfers have brought that is not written down yet, and when it is to be (pure).
struct TrafficCount: Sendable {
  /// What one carrier has brought.
  struct Entry: Sendable, Hashable {
    var carrier: Carrier
    var bytes = 0
    /// Those that have ended.
    var transfers = 0
  }

  /// A transfer that has not ended.
  private struct Transfer {
    /// What brought bytes last, or was to; nil as long as all comes from this machine.
    var carrier: Carrier?
    /// Whether it comes from this machine at present.
    var isLocal = true
    /// Whether anything was sent or came over a network; what is refused before costs nobody anything.
    var isUnderWay = false
    /// Whether it has been counted as one that ended.
    var isCounted = false
  }

  /// So much counting is lost at most where the program is killed.
  static let interval = Duration.seconds(2)

  /// By number.
  private var running: [Int: Transfer] = [:]
  private var issued = 0
  /// One for each carrier, in the order in which they came.
  private var unwritten: [Entry] = []
  private var isAlarmSet = false

  /// Begins a transfer, which counts nothing before it is known where it comes from.
  ///
  /// - Returns: Its number.
  mutating func begin() -> Int {
    issued += 1
    running[issued] = Transfer()
    return issued
  }

  /// Notes where a transfer comes from now.
  ///
  /// - Parameters:
  ///   - number: Which one.
  ///   - carrier: Nil for this machine itself.
  mutating func goOn(_ number: Int, over carrier: Carrier?) {
    guard var transfer = running[number] else { return }
    transfer.isLocal = carrier == nil
    if let carrier { transfer.carrier = carrier }
    running[number] = transfer
  }

  /// Notes that a request goes out.
  mutating func request(_ number: Int) {
    guard let transfer = running[number], !transfer.isLocal else { return }
    running[number]?.isUnderWay = true
  }

  /// Counts what has just come, unless it came from this machine.
  ///
  /// - Returns: Whether somebody is to call ``alarm()`` after the interval.
  mutating func add(_ bytes: Int, to number: Int, over carrier: Carrier) -> Bool {
    guard bytes > 0, var transfer = running[number], !transfer.isLocal else { return false }
    if transfer.carrier != carrier || !transfer.isUnderWay {
      (transfer.carrier, transfer.isUnderWay) = (carrier, true)
      running[number] = transfer
    }
    count(carrier, bytes: bytes)
    defer { isAlarmSet = true }
    return !isAlarmSet
  }

  /// What has gathered and is to be written down now.
  ///
  /// The next is set by the next byte; that it may find nothing costs less than to set one for each small image.
  mutating func alarm() -> [Entry] {
    isAlarmSet = false
    return take()
  }

  /// Ends a transfer, which counts as one however it ended, if any of it went over a network.
  ///
  /// - Returns: What is to be written down now, with what others have brought.
  mutating func end(_ number: Int) -> [Entry] {
    guard let transfer = running.removeValue(forKey: number), let carrier = transfer.carrier else {
      return []
    }
    if transfer.isUnderWay, !transfer.isCounted { count(carrier, transfers: 1) }
    return take()
  }

  /// Counts all transfers as ended; what they still bring counts as well.
  ///
  /// - Returns: What is to be written down now.
  mutating func endAll() -> [Entry] {
    for (number, transfer) in running {
      guard let carrier = transfer.carrier, transfer.isUnderWay, !transfer.isCounted else { continue }
      count(carrier, transfers: 1)
      running[number]?.isCounted = true
    }
    return take()
  }

  private mutating func count(_ carrier: Carrier, bytes: Int = 0, transfers: Int = 0) {
    let known = unwritten.firstIndex { $0.carrier == carrier }
    if known == nil { unwritten.append(Entry(carrier: carrier)) }
    let index = known ?? unwritten.count - 1
    unwritten[index].bytes += bytes
    unwritten[index].transfers += transfers
  }

  private mutating func take() -> [Entry] {
    defer { unwritten = [] }
    return unwritten
  }
}

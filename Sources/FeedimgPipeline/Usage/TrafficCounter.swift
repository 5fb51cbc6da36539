import FeedimgModel

/// The network of a transfer, as the ledger records it.
struct TransferNetwork: Sendable, Hashable {
  var network: NetworkKind
  var metered: Metered

  init(_ state: NetworkState) { (network, metered) = (state.kind, state.metered) }
}

/// The traffic that has not been recorded in the ledger; also decides when to record it (pure).
struct TrafficCounter: Sendable {
  struct Entry: Sendable, Hashable {
    var carrier: TransferNetwork
    var bytes = 0
    var transfers = 0
  }

  private struct Transfer {
    /// The network of the latest bytes, or of the next ones; nil while all bytes come from this machine.
    var carrier: TransferNetwork?
    /// Whether the transfer is currently from this machine.
    var isLocal = true
    /// Whether a request was sent or bytes were received over a network; a transfer refused before that costs
    /// nothing.
    var isUnderWay = false
    /// Whether the transfer has been counted as ended.
    var isCounted = false
  }

  /// The longest time whose traffic is lost if the program is killed.
  static let interval = Duration.seconds(2)

  private var running: [Int: Transfer] = [:]
  private var issued = 0
  /// The traffic to record, one entry for each network, in order of first use.
  private var unwritten: [Entry] = []
  private var isAlarmSet = false

  /// Starts a transfer, which counts nothing before its origin is known.
  mutating func begin() -> Int {
    issued += 1
    running[issued] = Transfer()
    return issued
  }

  /// Records the present origin of a transfer.
  ///
  /// - Parameters:
  ///   - number: The number of the transfer.
  ///   - carrier: The network; nil for this machine itself.
  mutating func goOn(_ number: Int, over carrier: TransferNetwork?) {
    guard var transfer = running[number] else { return }
    transfer.isLocal = carrier == nil
    if let carrier { transfer.carrier = carrier }
    running[number] = transfer
  }

  mutating func request(_ number: Int) {
    guard let transfer = running[number], !transfer.isLocal else { return }
    running[number]?.isUnderWay = true
  }

  /// Counts received bytes, unless they come from this machine.
  ///
  /// - Returns: Whether the caller must call ``alarm()`` after the interval.
  mutating func add(_ bytes: Int, to number: Int, over carrier: TransferNetwork) -> Bool {
    guard bytes > 0, var transfer = running[number], !transfer.isLocal else { return false }
    if transfer.carrier != carrier || !transfer.isUnderWay {
      (transfer.carrier, transfer.isUnderWay) = (carrier, true)
      running[number] = transfer
    }
    count(carrier, bytes: bytes)
    defer { isAlarmSet = true }
    return !isAlarmSet
  }

  /// Returns the traffic to record now.
  ///
  /// The next received byte sets the next alarm. An alarm without traffic costs less than an alarm for each
  /// small image.
  mutating func alarm() -> [Entry] {
    isAlarmSet = false
    return take()
  }

  /// Ends a transfer, which counts as one, regardless of its outcome, if any part of it used a network.
  ///
  /// - Returns: The traffic to record now, that of other transfers included.
  mutating func end(_ number: Int) -> [Entry] {
    guard let transfer = running.removeValue(forKey: number), let carrier = transfer.carrier else {
      return []
    }
    if transfer.isUnderWay, !transfer.isCounted { count(carrier, transfers: 1) }
    return take()
  }

  /// Counts all transfers as ended; bytes that still arrive count as well.
  ///
  /// - Returns: The traffic to record now.
  mutating func endAll() -> [Entry] {
    for (number, transfer) in running {
      guard let carrier = transfer.carrier, transfer.isUnderWay, !transfer.isCounted else { continue }
      count(carrier, transfers: 1)
      running[number]?.isCounted = true
    }
    return take()
  }

  private mutating func count(_ carrier: TransferNetwork, bytes: Int = 0, transfers: Int = 0) {
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

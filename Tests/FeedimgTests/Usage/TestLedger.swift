import FeedimgModel
import LoopbackServer
import Synchronization

/// Counts in memory.
final class TestLedger: UsageKeeping {
  private let counts = Mutex<[NetworkUsage]>([])

  func today() -> CalendarDay { CalendarDay(daysSince1970: 20_778) }

  func add(_ received: ByteCount, transfers: Int, network: NetworkKind, metered: Metered) {
    let usage = NetworkUsage(
      day: today(),
      network: network,
      metered: metered,
      received: received,
      transfers: transfers
    )
    counts.withLock { $0.append(usage) }
  }

  func write() {}

  func flush() -> Bool { true }

  func usage(on days: ClosedRange<CalendarDay>) -> (usage: [NetworkUsage], gap: String?) {
    (counts.withLock { $0.filter { days.contains($0.day) } }, nil)
  }

  func takeWarnings() -> [String] { [] }

  /// All counts, such as `cellular yes 12 1`.
  var lines: [String] {
    counts.withLock { $0.map { "\($0.network) \($0.metered) \($0.received.bytes) \($0.transfers)" } }
  }
}

/// Writes only after its gate is open.
final class SlowLedger: UsageKeeping {
  private let ledger: TestLedger
  private let asked = Atomic(false)
  private let unwritten = Mutex<[@Sendable (TestLedger) -> Void]>([])
  let gate = Gate()

  init(_ ledger: TestLedger) { self.ledger = ledger }

  var isAsked: Bool { asked.load(ordering: .acquiring) }

  func today() -> CalendarDay { ledger.today() }

  func add(_ received: ByteCount, transfers: Int, network: NetworkKind, metered: Metered) {
    unwritten.withLock {
      $0.append { $0.add(received, transfers: transfers, network: network, metered: metered) }
    }
  }

  func write() {
    let counts = unwritten.withLock { counts in
      defer { counts = [] }
      return counts
    }
    asked.store(true, ordering: .releasing)
    gate.wait()
    for count in counts { count(ledger) }
  }

  func flush() -> Bool { true }

  func usage(on days: ClosedRange<CalendarDay>) -> (usage: [NetworkUsage], gap: String?) {
    ledger.usage(on: days)
  }

  func takeWarnings() -> [String] { [] }
}

/// Delivers an image without any network, with callbacks during the transfer.
struct TestDownloader: Downloading {
  var body: [UInt8]
  /// The limit that the head is told.
  var headLength = 100
  /// The redirected URL in a response of that length.
  ///
  /// Nil without a redirect.
  var redirect: ImageURL?
  var onHead: @Sendable () async throws(LoadError) -> Void = {}

  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    let head = ResponseHead(
      status: 200,
      fields: HTTPFields([]),
      url: redirect ?? request.url,
      contentLength: body.count
    )
    if let redirect {
      receiver.note(.requested)
      receiver.note(.moved(headLength))
      receiver.note(.redirected(redirect))
    }
    receiver.note(.requested)
    receiver.note(.moved(headLength))
    try receiver.begin(head)
    try await onHead()
    receiver.note(.moved(body.count))
    let bytes = body
    let refusal = bytes.withUnsafeBytes { bytes -> LoadError? in
      do throws(LoadError) {
        try receiver.receive(bytes)
        return nil
      } catch {
        return error
      }
    }
    if let refusal { throw refusal }
    return head
  }
}

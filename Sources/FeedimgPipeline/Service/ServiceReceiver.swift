import FeedimgModel
import Synchronization

final class ServiceReceiver: BodyReceiving {
  private struct State {
    /// Whether the service downloads the image; a cached image reports no progress.
    var isFetched = false
    var head: ResponseHead?
    var bytes: [UInt8] = []
    var hasReceived = false
    var scans = ScanSelector()
  }

  private let load: InFlightLoad
  private let reporter = LoadEventReporter.present
  /// Guards the response; the transfer's thread extends it.
  private let state = Mutex(State())

  init(_ load: InFlightLoad) { self.load = load }

  var head: ResponseHead? { state.withLock { $0.head } }
  var bytes: [UInt8] { state.withLock { $0.bytes } }

  /// Returns whether a head or bytes have arrived since the last call.
  func takeHasReceived() -> Bool {
    state.withLock { state in
      defer { state.hasReceived = false }
      return state.hasReceived
    }
  }

  /// Returns the latest scan of the arriving image that is worth showing, if any.
  func scan() -> ScanSelector.Scan? {
    state.withLock { state in
      guard let head = state.head, head.status == 200 else { return nil }
      return state.scans.latest(in: state.bytes, of: head.contentLength)
    }
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    let cacheStatus = head.fields["Cache-Status"]
    let isFetched = head.status == 200 && ServiceClient.isForwarded(cacheStatus)
    state.withLock { ($0.head, $0.isFetched, $0.hasReceived) = (head, isFetched, true) }
    guard isFetched else { return }
    if ServiceClient.isCollapsed(cacheStatus) { load.countsForOtherClient = true }
    // A caller whose data limit is too low leaves before the first byte.
    try load.report(
      LoadProgress(received: ByteCount(0), total: head.contentLength.map { ByteCount($0) })
    )
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    let (head, count) = state.withLock { state in
      state.bytes.append(contentsOf: bytes)
      state.hasReceived = true
      return (state.isFetched ? state.head : nil, state.bytes.count)
    }
    guard let head else { return }
    let progress = LoadProgress(received: ByteCount(count), total: head.contentLength.map { ByteCount($0) })
    reporter?.report(.progress(progress))
    try load.report(progress)
  }
}

import FeedimgModel
import Synchronization

/// Receives an image from the service.
final class ServiceReceiver: BodyReceiving {
  private struct State {
    /// Whether the service downloads the image; a cached image reports no progress.
    var isFetched = false
    var head: ResponseHead?
    var bytes: [UInt8] = []
    var scans = ScanSelector()
  }

  private let load: InFlightLoad
  private let healthMonitor: ServiceHealthMonitor
  private let reporter = LoadEventReporter.present
  /// Guards the response; the transfer's thread extends it.
  private let state = Mutex(State())

  init(_ load: InFlightLoad, _ healthMonitor: ServiceHealthMonitor) {
    (self.load, self.healthMonitor) = (load, healthMonitor)
  }

  var head: ResponseHead? { state.withLock { $0.head } }
  var bytes: [UInt8] { state.withLock { $0.bytes } }

  /// Returns the latest scan of the arriving image that is worth showing, if any.
  func scan() -> ScanSelector.Scan? {
    state.withLock { state in
      guard let head = state.head, head.status == 200 else { return nil }
      return state.scans.latest(in: state.bytes, of: head.contentLength)
    }
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    healthMonitor.received()
    let cacheStatus = head.fields["Cache-Status"]
    let isFetched = head.status == 200 && ServiceClient.isForwarded(cacheStatus)
    state.withLock { ($0.head, $0.isFetched) = (head, isFetched) }
    guard isFetched else { return }
    if ServiceClient.isCollapsed(cacheStatus) { load.countsForOtherClient = true }
    // A caller whose data limit is too low leaves before the first byte.
    try load.report(
      LoadProgress(received: ByteCount(0), total: head.contentLength.map { ByteCount($0) })
    )
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    healthMonitor.received()
    let (head, count) = state.withLock { state in
      state.bytes.append(contentsOf: bytes)
      return (state.isFetched ? state.head : nil, state.bytes.count)
    }
    guard let head else { return }
    let progress = LoadProgress(received: ByteCount(count), total: head.contentLength.map { ByteCount($0) })
    reporter?.report(.progress(progress))
    try load.report(progress)
  }
}

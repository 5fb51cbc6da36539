import FeedimgModel
import Synchronization

/// Receives an image from the service.
final class ServiceReceiver: BodyReceiving {
  private struct State {
    /// Whether the service downloads the image; a cached image reports no progress.
    var isBrought = false
    var head: ResponseHead?
    var bytes: [UInt8] = []
    var scans = ScanSelector()
  }

  private let load: InFlightLoad
  private let vigil: ServiceHealthMonitor
  private let witness = LoadEventReporter.present
  /// Guards the response; the transfer's thread extends it.
  private let state = Mutex(State())

  init(_ load: InFlightLoad, _ vigil: ServiceHealthMonitor) { (self.load, self.vigil) = (load, vigil) }

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
    vigil.hear()
    let cacheStatus = head.fields["Cache-Status"]
    let isBrought = head.status == 200 && ServiceClient.isForwarded(cacheStatus)
    state.withLock { ($0.head, $0.isBrought) = (head, isBrought) }
    guard isBrought else { return }
    if ServiceClient.isCollapsed(cacheStatus) { load.countsForOtherClient = true }
    // A caller whose data limit is too low leaves before the first byte.
    try load.report(
      LoadProgress(received: ByteCount(0), total: head.contentLength.map { ByteCount($0) })
    )
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    vigil.hear()
    let (head, count) = state.withLock { state in
      state.bytes.append(contentsOf: bytes)
      return (state.isBrought ? state.head : nil, state.bytes.count)
    }
    guard let head else { return }
    let progress = LoadProgress(received: ByteCount(count), total: head.contentLength.map { ByteCount($0) })
    witness?.tell(.progress(progress))
    try load.report(progress)
  }
}

import FeedimgModel
import Synchronization

/// Receives an image from the service.
final class ServiceReceiver: BodyReceiving {
  private struct State {
    /// Whether the service downloads the image; a cached image reports no progress.
    var isBrought = false
    var head: ResponseHead?
    var bytes: [UInt8] = []
    var scans = ArrivingScans()
  }

  private let load: InFlightLoad
  private let vigil: ServiceVigil
  private let witness = LoadWitness.present
  /// Guards the response; the transfer's thread extends it.
  private let state = Mutex(State())

  init(_ load: InFlightLoad, _ vigil: ServiceVigil) { (self.load, self.vigil) = (load, vigil) }

  var head: ResponseHead? { state.withLock { $0.head } }
  var bytes: [UInt8] { state.withLock { $0.bytes } }

  /// Returns the latest scan of the arriving image that is worth showing, if any.
  func scan() -> ArrivingScans.Scan? {
    state.withLock { state in
      guard let head = state.head, head.status == 200 else { return nil }
      return state.scans.latest(in: state.bytes, of: head.contentLength)
    }
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    vigil.hear()
    let cacheStatus = head.fields["Cache-Status"]
    let isBrought = head.status == 200 && ServiceLink.isForwarded(cacheStatus)
    state.withLock { ($0.head, $0.isBrought) = (head, isBrought) }
    guard isBrought else { return }
    if ServiceLink.isCollapsed(cacheStatus) { load.countsElsewhere = true }
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

import FeedimgModel
import Synchronization

/// The last look before a request goes out, which may have waited long for its place or after a failure.
///
/// Where data has come to cost meanwhile, or does no longer, the load is decided anew, so that it asks as others do.
final class Departure: Sendable {
  /// What the request says.
  let identity: RequestIdentity
  /// What it would say now.
  private let present: @Sendable () -> RequestIdentity
  private let missed = Atomic(false)

  init(_ identity: RequestIdentity, _ present: @escaping @Sendable () -> RequestIdentity) {
    (self.identity, self.present) = (identity, present)
  }

  /// Whether the load has ended for that.
  var isMissed: Bool { missed.load(ordering: .acquiring) }

  /// - Throws: `cancelled` where the request would say something else by now.
  func check() throws(LoadError) {
    guard present().savesData != identity.savesData else { return }
    missed.store(true, ordering: .releasing)
    throw LoadError(.cancelled, message: "what data costs has changed")
  }
}

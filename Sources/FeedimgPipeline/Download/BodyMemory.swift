import FeedimgModel
import Synchronization

/// The memory of one long body while it arrives.
///
/// Servers that send without end must not take all memory together. Therefore all bodies of a pool share one
/// limit, and a download that exceeds it fails. It keeps its bytes if it can resume.
final class BodyMemory: Sendable {
  /// Bodies that share a limit.
  final class Pool: Sendable {
    /// Images, and the responses of `GET /v1/fetch`.
    static let cached = Pool()
    /// Responses that the gateway forwards as they are.
    static let gateway = Pool()

    /// The memory of all long bodies, in bytes.
    fileprivate let total = Atomic(0)
  }

  /// The length up to which bodies do not count, in bytes, so that most images always load.
  static let uncounted = 1 << 20

  private let pool: Pool
  private let held = Atomic(0)

  init(_ pool: Pool) { self.pool = pool }

  deinit { pool.total.subtract(held.load(ordering: .relaxed), ordering: .relaxed) }

  /// Records how much memory the body takes now.
  ///
  /// - Returns: Whether all bodies are within the limit.
  func hold(_ count: Int, limit: Int) -> Bool {
    let change = count - held.exchange(count, ordering: .relaxed)
    return pool.total.add(change, ordering: .relaxed).newValue <= limit
  }

  /// The error for a download that exceeds the limit.
  ///
  /// A later attempt may succeed.
  static func shortage(_ url: ImageURL) -> LoadError {
    var error = LoadError(
      .unavailable,
      url: url,
      message: "too many long bodies arrive at the same time"
    )
    error.cause = .shortage
    return error
  }
}

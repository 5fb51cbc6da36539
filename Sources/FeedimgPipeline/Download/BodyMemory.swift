import FeedimgModel
import Synchronization

/// The memory of one long body while it arrives.
///
/// Servers that send without end must not take all memory together. Therefore all bodies of the process share one
/// limit, and a download that exceeds it fails. It keeps its bytes if it can resume.
final class BodyMemory: Sendable {
  /// The length up to which bodies do not count, in bytes, so that most images always load.
  static let uncounted = 1 << 20

  /// The memory of all long bodies in this process, in bytes.
  private static let total = Atomic(0)

  private let held = Atomic(0)

  deinit { Self.total.subtract(held.load(ordering: .relaxed), ordering: .relaxed) }

  /// Records how much memory the body takes now.
  ///
  /// - Returns: Whether all bodies are within the limit.
  func hold(_ count: Int, limit: Int) -> Bool {
    let change = count - held.exchange(count, ordering: .relaxed)
    return Self.total.add(change, ordering: .relaxed).newValue <= limit
  }

  /// The error for a download that exceeds the limit.
  ///
  /// A later attempt may succeed.
  static func shortage(_ url: ImageURL) -> LoadError {
    var error = LoadError(
      .unavailable,
      url: url,
      message: "too many long images arrive at the same time"
    )
    error.retry.reason = .shortage
    return error
  }
}

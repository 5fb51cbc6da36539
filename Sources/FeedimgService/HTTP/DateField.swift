import FeedimgModel
import Glibc

/// The date that goes with every answer (RFC 9110 §6.6.1).
struct DateField {
  private var second = -1
  private var latest = ""

  /// The date now; put into words once a second.
  mutating func now() -> String {
    let now = time(nil)
    if now != second { (second, latest) = (now, Self.text(now)) }
    return latest
  }

  static func text(_ seconds: Int) -> String { HTTPDate.text(seconds) }
}

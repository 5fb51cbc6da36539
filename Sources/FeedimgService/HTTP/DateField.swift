import FeedimgModel
import Glibc

/// The value of the field `Date` (RFC 9110 §6.6.1).
struct DateField {
  private var second = -1
  private var latest = ""

  /// The current date, formatted once a second.
  mutating func now() -> String {
    let now = time(nil)
    if now != second { (second, latest) = (now, HTTPDate.text(now)) }
    return latest
  }
}

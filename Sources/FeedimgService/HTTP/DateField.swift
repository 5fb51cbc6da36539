import FeedimgModel
import Glibc

/// The date that goes with every answer (RFC 9110 §6.6.1).
enum DateField {
  static func text(_ seconds: Int) -> String { HTTPDate.text(seconds) }

  /// The date now.
  static func now() -> String { text(time(nil)) }
}

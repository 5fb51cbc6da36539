/// What a link is, seen from the data that passes through it.
struct LinkClass: Hashable, Sendable {
  enum Medium: Hashable, Sendable {
    case wifi
    case ethernet
    case cellular
    /// It carries data, but nobody can tell how.
    case unknown
    /// It carries no data of ours to the internet, whatever the routes say.
    case noConnection
  }

  var medium: Medium
  /// Whether it is a phone, reached by cable or Bluetooth.
  var isTether = false
  /// Whether there is no hardware that this host can see.
  var isVirtual = false
  /// Why, in words.
  var reason: String

  /// Whether a phone might be behind it that does not show as one.
  var mayBePhone: Bool { (medium == .wifi || medium == .ethernet) && !isVirtual }
}

/// The events that had arrived.
enum ArrivedEvents {
  case none
  case some
  /// More than the socket could hold.
  case overrun
}

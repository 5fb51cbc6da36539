extension Link {
  /// Why no packet passes here now, in words; nil if some can.
  ///
  /// An operational state that says down while there is a carrier lags behind (linkwatch tells it up to a
  /// second late), and devices without a notion of it say unknown: both count as usable.
  var obstacle: String? {
    guard flags & LinkFlags.up != 0 else { return "`\(name)` is switched off" }
    guard hasCarrier ?? (flags & LinkFlags.lowerUp != 0) else { return "`\(name)` has no carrier" }
    switch operationalState {
    case OperationalState.dormant: return "`\(name)` is not yet authenticated"
    case OperationalState.lowerLayerDown: return "the link below `\(name)` is down"
    case OperationalState.notPresent: return "the device of `\(name)` is absent"
    default: return nil
    }
  }
}

/// The Wi-Fi network that this host is joined to.
struct WirelessNetwork: Hashable, Sendable {
  /// Its name, where it is text.
  var name: String?
  /// The address of the access point's radio.
  var accessPoint: UInt64?
  /// What the access point says about what its data costs.
  var cost = WirelessCost.notTold
}

/// What the beacon of an access point tells about the price of its data.
enum WirelessCost: Hashable, Sendable {
  case notTold
  /// It says that it costs.
  case metered(String)
  /// It says that it does not.
  case free
  /// It looks like a phone's.
  case phone(String)
}

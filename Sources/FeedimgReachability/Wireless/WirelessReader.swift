/// Asks nl80211 about Wi-Fi.
final class WirelessReader {
  func mode(of link: Link) -> Hardware.WirelessMode? { nil }
  func network(of link: Link) -> WirelessNetwork? { nil }
}

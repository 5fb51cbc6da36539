/// The identity of a network between connections: its Wi-Fi name, or otherwise its device.
public enum NetworkName: Sendable, Hashable {
  /// The name of a Wi-Fi network.
  case ssid(String)
  /// An interface, such as `usb0`.
  case device(String)

  /// Parses the form of ``text``.
  ///
  /// - Parameter text: Such as `ssid:Home`.
  public init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let name = String(text[text.index(after: colon)...])
    guard !name.isEmpty else { return nil }
    switch text[..<colon] {
    case "ssid": self = .ssid(name)
    case "device": self = .device(name)
    default: return nil
    }
  }

  /// The name with its kind as a prefix, such as `ssid:Home` or `device:usb0`.
  public var text: String {
    switch self {
    case .ssid(let name): "ssid:\(name)"
    case .device(let name): "device:\(name)"
    }
  }
}

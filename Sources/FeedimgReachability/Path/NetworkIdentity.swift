/// What tells one network from another for the one who uses it.
package struct NetworkIdentity: Hashable, Sendable {
  /// The interface that carries the data, at the end of the path.
  package var device: String
  /// The name of the Wi-Fi network; nil for others, and where it is no text.
  package var wirelessName: String?

  package init(device: String, wirelessName: String? = nil) {
    self.device = device
    self.wirelessName = wirelessName
  }
}

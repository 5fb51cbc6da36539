/// What a phone says in its answer to DHCP, as systemd-networkd keeps it.
enum Lease {
  /// `ANDROID_METERED` in hexadecimal: option 43 of an Android phone that shares mobile data.
  private static let phone = "414e44524f49445f4d455445524544"

  /// Whether a lease is that of a phone that shares mobile data.
  ///
  /// - Parameter text: A file of networkd below `/run/systemd/netif/leases`.
  /// - Returns: Whether the vendor's option says so.
  static func isOfPhone(_ text: String) -> Bool {
    text.split(separator: "\n").contains { line in
      let parts = line.split(separator: "=", maxSplits: 1)
      return parts.count == 2 && parts[0] == "VENDOR_SPECIFIC" && parts[1].lowercased().contains(phone)
    }
  }
}

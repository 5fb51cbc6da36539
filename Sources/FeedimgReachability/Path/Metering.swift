import FeedimgModel

/// Judges whether data costs something, from all that is known of a path.
struct Metering: Hashable, Sendable {
  /// What the one who uses or administers this host says.
  enum Word: Hashable, Sendable {
    /// The mark that the user gave the network.
    case user(Metered)
    /// The setting of the network in NetworkManager.
    case networkManager(Metered)
    /// What the desktop's portal tells programs in a sandbox.
    case portal(Metered)
  }

  var end: LinkClass
  var wireless: WirelessNetwork?
  var words: [Word] = []
  /// The address to which packets go first.
  var gateway: IPAddress?
  /// Whether the address of this host was given by a phone that shares mobile data.
  var isLeasedByPhone = false
  var isRoaming = false

  /// The judgement, and why, in words.
  ///
  /// What people say goes before what devices show, and what costs for certain before what looks free.
  var verdict: (metered: Metered, reason: String) {
    for word in words {
      switch word {
      case .user(.yes): return (.yes, "the user marked this network as metered")
      case .user(.no): return (.no, "the user marked this network as not metered")
      case .networkManager(.yes): return (.yes, "NetworkManager says so")
      case .networkManager(.no): return (.no, "NetworkManager says so")
      case .portal(.yes): return (.yes, "the desktop's portal says so")
      case .portal(.no): return (.no, "the desktop's portal says so")
      case .user(.unknown), .networkManager(.unknown), .portal(.unknown): continue
      }
    }
    if isRoaming { return (.yes, "the modem is in a foreign network") }
    return byMedium
  }

  private var byMedium: (Metered, String) {
    switch end.medium {
    case .cellular where end.isTether: return (.yes, "it is a phone's data")
    case .cellular: return (.yes, "it is mobile data")
    case .wifi, .ethernet:
      if isLeasedByPhone { return (.yes, "the address was given by a phone that shares mobile data") }
      return end.medium == .wifi ? byBeacon : byCable
    case .unknown, .noConnection: return (.unknown, "what carries the data is not known")
    }
  }

  private var byBeacon: (Metered, String) {
    switch wireless?.cost ?? .notTold {
    case .metered(let reason), .phone(let reason): (.yes, reason)
    case .free: (.no, "the access point says that data is free")
    case .notTold where gateway == Self.gatewayOfIPhone: (.yes, "the gateway has the address of an iPhone's")
    case .notTold: (.no, "nothing says that data costs on this Wi-Fi")
    }
  }

  private var byCable: (Metered, String) {
    end.isVirtual
      ? (.unknown, "what is behind the virtual link cannot be seen")
      : (.no, "nothing says that data costs on this Ethernet")
  }

  /// 172.20.10.1, which iOS gives itself when it shares its connection.
  private static let gatewayOfIPhone = IPAddress.v4(0xac14_0a01)
}

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

import FeedimgModel
import FeedimgSystem

/// Decides whether data costs, from all known properties of a path.
struct Metering: Hashable, Sendable {
  /// A statement of the user or an administrator.
  struct Statement: Hashable, Sendable {
    var metered: Metered
    var reason: String

    /// The mark that the user gave the network.
    static func user(_ metered: Metered) -> Statement {
      let mark = metered == .no ? "not metered" : "metered"
      return Statement(metered: metered, reason: "the user marked this network as \(mark)")
    }

    /// The metering setting of the network in NetworkManager.
    static func networkManager(_ metered: Metered) -> Statement {
      Statement(metered: metered, reason: "NetworkManager reports it")
    }

    /// The reply of the desktop portal that data costs.
    static let portal = Statement(metered: .yes, reason: "the desktop portal reports it")
  }

  var end: LinkClass
  var wireless: WirelessNetwork?
  var statements: [Statement] = []
  /// The address of the first router.
  var gateway: IPAddress?
  /// Whether a phone that shares mobile data assigned the address of this host.
  var isLeasedByPhone = false
  var isRoaming = false

  /// The decision and its reason in words.
  ///
  /// Statements of people take precedence over signs of devices, and certain costs over apparent lack of
  /// costs.
  var verdict: (metered: Metered, reason: String) {
    if let statement = statements.first(where: { $0.metered != .unknown }) {
      return (statement.metered, statement.reason)
    }
    if isRoaming { return (.yes, "the modem is roaming") }
    switch end.medium {
    case .cellular where end.isTether: return (.yes, "the data is a phone's mobile data")
    case .cellular: return (.yes, "the data is mobile data")
    case .wifi, .ethernet:
      if isLeasedByPhone { return (.yes, "a phone that shares mobile data assigned the address") }
      return end.medium == .wifi ? byBeacon : byCable
    case .other, .offline: return (.unknown, "the hardware that carries the data is unknown")
    }
  }

  private var byBeacon: (Metered, String) {
    switch wireless?.cost ?? .notAnnounced {
    case .metered(let reason), .phone(let reason): (.yes, reason)
    case .free: (.no, "the access point reports that data is free")
    case .notAnnounced where gateway == Self.gatewayOfIPhone:
      (.yes, "the gateway has the address of an iPhone hotspot")
    case .notAnnounced: (.no, "there is no sign that data costs on this Wi-Fi")
    }
  }

  private var byCable: (Metered, String) {
    end.isVirtual
      ? (.unknown, "the hardware behind the virtual link is unknown")
      : (.no, "there is no sign that data costs on this Ethernet")
  }

  /// 172.20.10.1, the address of an iPhone that shares its connection.
  private static let gatewayOfIPhone = IPAddress.v4(0xac14_0a01)
}

/// The DHCP lease of a phone, as systemd-networkd stores it.
enum Lease {
  /// `ANDROID_METERED` in hexadecimal: DHCP option 43 of an Android phone that shares mobile data.
  private static let phone = "414e44524f49445f4d455445524544"

  /// Whether a file of `/run/systemd/netif/leases` comes from a phone that shares mobile data.
  static func isOfPhone(_ text: String) -> Bool {
    text.split(separator: "\n").contains { line in
      line.hasPrefix("VENDOR_SPECIFIC=") && line.lowercased().contains(phone)
    }
  }
}

public import FeedimgModel
import FeedimgReachability

/// A network as a kernel described it, in netlink messages.
///
/// feedimg classifies a recorded network as it classifies a live one, so that a test also sees the reasons, the
/// interface and the metering.
///
/// ```swift
/// test.network.replay(.wireGuardOverWifi)
/// ```
public struct RecordedNetwork: Sendable {
  /// The state that feedimg finds in the messages.
  public let state: NetworkState

  /// Reads recorded messages, such as those of an `nlmon` interface.
  ///
  /// The first route or error is the reply for packets without a mark. Each later one is the reply for the next
  /// mark that the rules name, which a tunnel sets on its own packets.
  ///
  /// - Parameters:
  ///   - routing: Messages of rtnetlink: links, rules, then routes or errors. Others are ignored.
  ///   - wireless: Messages of nl80211: the mode of the Wi-Fi interface, and its scan results.
  ///   - drivers: The driver of each interface by its name, as `ethtool -i` reports it.
  public init(routing: [UInt8], wireless: [UInt8] = [], drivers: [String: String] = [:]) {
    state = RecordedKernel(routing: routing, wireless: wireless, drivers: drivers).state
  }

  private init(_ routing: [Recording], wireless: [Recording] = [], drivers: [String: String] = [:]) {
    self.init(
      routing: routing.flatMap(\.bytes),
      wireless: wireless.flatMap(\.bytes),
      drivers: drivers
    )
  }
}

extension RecordedNetwork {
  /// Wi-Fi that reports nothing about its cost.
  public static let wifi = Self(
    [LinkRecordings.wifi, RouteRecordings.wifi],
    wireless: [WirelessRecordings.station]
  )
  /// Wi-Fi whose access point reports limited data.
  public static let limitedWifi = Self(
    [LinkRecordings.wifi, RouteRecordings.wifi],
    wireless: [WirelessRecordings.station, WirelessRecordings.limited]
  )
  /// The Wi-Fi of an iPhone that shares its mobile data.
  public static let phoneOverWifi = Self(
    [LinkRecordings.wifi, RouteRecordings.wifi],
    wireless: [WirelessRecordings.station, WirelessRecordings.phone]
  )
  /// A phone that shares its mobile data by USB.
  public static let phoneOverUSB = Self(
    [LinkRecordings.rndis, RouteRecordings.phone],
    drivers: ["usb0": "rndis_host"]
  )
  /// A USB modem.
  public static let usbModem = Self(
    [LinkRecordings.qmi, RouteRecordings.modem],
    drivers: ["wwan0": "qmi_wwan"]
  )
  /// A WireGuard tunnel over Wi-Fi.
  public static let wireGuardOverWifi = Self(
    [
      LinkRecordings.wireguard, LinkRecordings.wifi, RouteRecordings.ruleOfWireGuard,
      RouteRecordings.wireguard, RouteRecordings.wifi,
    ],
    wireless: [WirelessRecordings.station]
  )
  /// No route to the internet.
  public static let offline = Self([LinkRecordings.wifi, RouteRecordings.none])
}

extension ScriptedNetwork {
  /// Changes the network to a recorded one; loads and slots follow soon.
  public func replay(_ recording: RecordedNetwork) { become(recording.state) }
}

/// Bytes as a kernel sent them, written as hexadecimal digits with comments.
package struct Recording: CustomStringConvertible, Sendable {
  package let bytes: [UInt8]
  /// The first line of the text.
  package let description: String

  /// - Parameter text: Two digits per byte. Spaces, and text after `#` on a line, are ignored.
  package init(_ text: String) {
    var digits: [UInt8] = []
    for line in text.split(separator: "\n") {
      digits += line.prefix { $0 != "#" }.compactMap { $0.hexDigitValue.map(UInt8.init) }
    }
    bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    description = String(text.prefix { $0 != "\n" })
  }
}

@testable import FeedimgReachability

/// A bus with fixed devices and modems.
struct FakeBus: BusCalling {
  /// `NMMetered` by the name of the interface.
  var devices: [String: UInt32] = [:]
  /// Registration state and suspension by the name of the interface.
  var modems: [String: (registration: UInt32, isSuspended: Bool)] = [:]
  /// The interfaces behind a captive portal.
  var captive: Set<String> = []

  func call(_ method: BusMethod, _ arguments: [String]) -> BusValue? {
    switch method.name {
    case "GetDeviceByIpIface":
      return arguments.first.flatMap { devices[$0] == nil ? nil : .text("/device/\($0)") }
    case "GetManagedObjects":
      let objects = modems.map { name, modem -> (BusValue, BusValue) in
        (
          .text("/modem/\(name)"),
          .pairs([
            .text("\(method.service).Modem"): .pairs([.text("Bearers"): .list([.text("/bearer/\(name)")])]),
            .text("\(method.service).Modem.Modem3gpp"): .pairs([
              .text("RegistrationState"): .number(modem.registration)
            ]),
          ])
        )
      }
      return .pairs(Dictionary(uniqueKeysWithValues: objects))
    case "Get":
      let name = String(method.object.split(separator: "/").last ?? "")
      switch arguments.last {
      case "Metered": return devices[name].map { .number($0) }
      case "Ip4Connectivity": return .number(captive.contains(name) ? 2 : 4)
      case "Interface": return .text(name)
      case "Suspended": return modems[name].map { .bool($0.isSuspended) }
      default: return nil
      }
    default: return nil
    }
  }
}

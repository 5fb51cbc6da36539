package import FeedimgModel
import Glibc

/// The state of the network, with its sources and evidence.
package struct NetworkReport: Sendable {
  /// A source of facts about the network.
  package struct Source: Hashable, Sendable {
    package var name: String
    package var isAvailable: Bool
    /// The information that the source provides, or that is unknown without it.
    package var remark: String
  }

  package var state: NetworkState
  /// The identity of the current network; nil without a network.
  package var identity: NetworkIdentity?
  package var sources: [Source]
  /// The raw facts for bug reports, line by line, without names of Wi-Fi networks.
  package var evidence: [String]
}

extension NetlinkReader {
  /// Reads all sources, including those that the current path does not need.
  ///
  /// Takes some milliseconds.
  package func report() -> NetworkReport {
    var report = NetworkReport(state: currentState(), sources: [], evidence: [])
    do throws(NetlinkError) {
      let kernel = try LiveKernel()
      report.sources.append(
        .init(name: "netlink", isAvailable: true, remark: "the kernel reports routes and links")
      )
      let resolver = PathResolver(kernel: kernel)
      for family in AddressFamily.allCases {
        let finding = try resolver.find(family)
        report.evidence += Evidence.lines(family, finding, kernel)
        guard report.identity == nil, case .path(let path) = finding else { continue }
        report.identity = NetworkSurvey(kernel: kernel).identity(path)
      }
    } catch {
      let remark =
        "the kernel reports no routes and links (error \(error.number)); feedimg only detects whether a route exists"
      report.sources.append(.init(name: "netlink", isAvailable: false, remark: remark))
    }
    report.sources += [events, wireless, interfaces] + daemons + portal
    return report
  }

  private var events: NetworkReport.Source {
    let isAvailable = (try? NetlinkEvents()) != nil
    let period = MonitorThread.usualPolling / .seconds(1)
    return .init(
      name: "netlink events",
      isAvailable: isAvailable,
      remark: isAvailable
        ? "the kernel reports changes at once" : "feedimg reads the network every \(Int(period)) seconds"
    )
  }

  private var wireless: NetworkReport.Source {
    let isAvailable = WirelessReader().isAvailable
    return .init(
      name: "nl80211",
      isAvailable: isAvailable,
      remark: isAvailable
        ? "Wi-Fi is detected, and access points can report metering"
        : "there is no Wi-Fi device, or the system hides it"
    )
  }

  private var interfaces: NetworkReport.Source {
    // Sysfs may be missing, or show another namespace than that of this process.
    let links = (try? LiveKernel().links(.all)) ?? []
    let isAvailable = !links.isEmpty && links.allSatisfy { SysfsInterface($0) != nil }
    return .init(
      name: "sysfs",
      isAvailable: isAvailable,
      remark: isAvailable
        ? "device types are available" : "only drivers identify modems and phones"
    )
  }

  private var daemons: [NetworkReport.Source] {
    let bus = services.system.open()
    let known = [
      (
        "NetworkManager", NetworkManagerClient.service,
        "feedimg uses its metering settings", "its metering settings are unknown"
      ),
      ("ModemManager", ModemManagerClient.service, "roaming is known", "roaming is unknown"),
    ]
    return known.map { name, service, gain, loss in
      let isAvailable = bus?.isRunning(service) ?? false
      return .init(
        name: name,
        isAvailable: isAvailable,
        remark: isAvailable ? "it runs: \(gain)" : "it does not run: \(loss)"
      )
    }
  }

  /// The portal, if feedimg would ask it.
  private var portal: [NetworkReport.Source] {
    guard services.portal != .none else { return [] }
    let isAvailable = services.portal.open().flatMap { PortalClient.status($0) } != nil
    let remark = isAvailable ? "it reports metering to this sandbox" : "it does not respond to this sandbox"
    return [.init(name: "portal", isAvailable: isAvailable, remark: remark)]
  }
}

extension BusCalling {
  /// Whether a service runs.
  fileprivate func isRunning(_ service: String) -> Bool {
    let method = BusMethod(
      service: "org.freedesktop.DBus",
      object: "/org/freedesktop/DBus",
      interface: "org.freedesktop.DBus",
      name: "NameHasOwner"
    )
    return call(method, [service])?.bool ?? false
  }
}

extension NetlinkReader {
  /// Whether the kernel drops events of narrow routes, so that they wake no thread; nil without events.
  package var filtersEvents: Bool? {
    guard let events = try? NetlinkEvents() else { return nil }
    // With no room for the filter itself, the kernel returns its length in instructions (socket(7),
    // SO_GET_FILTER,
    // which has the number of SO_ATTACH_FILTER).
    var count: socklen_t = 0
    return getsockopt(events.descriptor, SOL_SOCKET, SO_ATTACH_FILTER, nil, &count) == 0 && count > 0
  }
}

/// Formats the kernel's facts, so that a reader can check the conclusions.
enum Evidence {
  /// One line for the route of a protocol, and one for each link on the path.
  static func lines(
    _ family: AddressFamily,
    _ finding: PathFinding,
    _ kernel: some KernelQuerying
  ) -> [String] {
    switch finding {
    case .none(let reason): return ["\(family): none: \(reason)"]
    case .path(let path):
      let route = path.route.text(path.nextHop, device: path.links.first?.name ?? "?")
      return ["\(family): \(route) metric \(path.route.metric)"]
        + path.links.map { "  \(line($0)) \(line(kernel.hardware(of: $0)))" } + ["  is \(path.end.medium)"]
    }
  }

  /// One line for a link, with the kernel's numbers.
  static func line(_ link: Link) -> String {
    var parts = ["\(link.index): \(link.name)", "type \(link.hardwareType)"]
    parts.append("flags 0x\(String(link.flags, radix: 16)) state \(link.operationalState)")
    if let carrier = link.hasCarrier { parts.append("carrier \(carrier ? 1 : 0)") }
    if let kind = link.kind { parts.append("kind \(kind)") }
    if let lower = link.lower { parts.append("on \(lower)\(link.isLowerElsewhere ? " elsewhere" : "")") }
    if let master = link.master { parts.append("master \(master)") }
    if let device = link.parentDevice { parts.append("device \(link.parentBus ?? "?")/\(device)") }
    return parts.joined(separator: " ")
  }

  /// The rest of the line, for the device.
  static func line(_ hardware: Hardware) -> String {
    var parts: [String] = []
    if let type = hardware.deviceType { parts.append("devtype \(type)") }
    if let driver = hardware.driver { parts.append("driver \(driver)") }
    if let mode = hardware.wirelessMode { parts.append("wireless \(mode)") }
    if let usb = hardware.usb {
      parts.append("usb \(String(usb.vendor, radix: 16))\(usb.hasSerialPort ? " serial" : "")")
    }
    return parts.joined(separator: " ")
  }
}

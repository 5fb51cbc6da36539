import FeedimgSystem

/// The sources of facts about the network, with evidence.
package struct NetworkReport: Sendable {
  /// A source of facts about the network.
  package struct Source: Hashable, Sendable {
    /// Whether the source works.
    package enum Verdict: Hashable, Sendable {
      case available
      /// It works, but wakes programs more often than necessary.
      case limited
      case missing
    }

    package var name: String
    package var verdict: Verdict
    /// The information that the source provides, or that is unknown without it.
    package var remark: String
  }

  package var sources: [Source]
  /// The raw facts for bug reports, line by line, without names of Wi-Fi networks.
  package var evidence: [String]
}

extension NetlinkReader {
  /// Reads all sources, including those that the current path does not need.
  ///
  /// Takes some milliseconds.
  package func report() -> NetworkReport {
    var evidence: [String] = []
    var links: [Link] = []
    var failure: NetlinkError?
    do throws(NetlinkError) {
      let kernel = try LiveKernel()
      links = (try? kernel.links(.all)) ?? []
      let resolver = PathResolver(kernel: kernel)
      for family in AddressFamily.allCases {
        let finding = try resolver.find(family)
        evidence += Evidence.lines(family, finding, kernel)
      }
    } catch {
      failure = error
    }
    return NetworkReport(sources: sources(links, failure), evidence: evidence)
  }

  private func sources(_ links: [Link], _ failure: NetlinkError?) -> [NetworkReport.Source] {
    var sources: [NetworkReport.Source] = []
    func add(
      _ name: String,
      _ isAvailable: Bool,
      _ remark: String,
      otherwise: String,
      as other: NetworkReport.Source.Verdict = .missing
    ) {
      let verdict: NetworkReport.Source.Verdict = isAvailable ? .available : other
      sources.append(.init(name: name, verdict: verdict, remark: isAvailable ? remark : otherwise))
    }
    add(
      "netlink",
      failure == nil,
      "the kernel reports routes and links",
      otherwise: "the kernel reports no routes and links (error \(failure?.number ?? 0));"
        + " feedimg only detects whether a route exists"
    )
    let events = try? NetlinkEvents()
    add(
      "netlink events",
      events != nil,
      "the kernel reports changes at once",
      otherwise: "feedimg reads the network every \(Int(NetlinkMonitor.usualPolling / .seconds(1))) seconds"
    )
    if let events {
      add(
        "event filter",
        events.dropsNarrowRoutes,
        "the kernel drops events about routes to single networks, so they wake no program",
        otherwise: "every route change wakes programs that watch the network",
        as: .limited
      )
    }
    add(
      "nl80211",
      WirelessReader().isAvailable,
      "Wi-Fi is detected, and access points can report metering",
      otherwise: "there is no Wi-Fi device, or the system hides it"
    )
    // Sysfs may be missing, or show another namespace than that of this process.
    add(
      "sysfs",
      !links.isEmpty && links.allSatisfy { SysfsInterface($0) != nil },
      "device types are available",
      otherwise: "only drivers identify modems and phones"
    )
    let bus = services.system.open()
    add(
      "NetworkManager",
      bus?.isRunning(NetworkManagerClient.service) ?? false,
      "it runs: feedimg uses its metering settings",
      otherwise: "it does not run: its metering settings are unknown"
    )
    add(
      "ModemManager",
      bus?.isRunning(ModemManagerClient.service) ?? false,
      "it runs: roaming is known",
      otherwise: "it does not run: roaming is unknown"
    )
    guard services.portal != .none else { return sources }
    add(
      "portal",
      services.portal.open().flatMap { PortalClient.advice($0) } != nil,
      "it reports metering to this sandbox",
      otherwise: "it does not respond to this sandbox"
    )
    return sources
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

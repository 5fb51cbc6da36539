extension NetlinkReader {
  /// Looks at everything there is to see, which may take some milliseconds.
  ///
  /// It opens all sources, also those that the present path does not need.
  package func report() -> NetworkReport {
    var report = NetworkReport(state: currentState(), sources: [], evidence: [])
    do throws(NetlinkError) {
      let kernel = try LiveKernel()
      report.sources.append(
        .init(name: "netlink", isThere: true, remark: "the kernel tells routes and links")
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
        "the kernel tells neither routes nor links (error \(error.number)), so that only a trial tells whether there is a way out"
      report.sources.append(.init(name: "netlink", isThere: false, remark: remark))
    }
    report.sources += [events, wireless, interfaces] + daemons + portal
    return report
  }

  private var events: NetworkReport.Source {
    let isThere = (try? NetlinkEvents()) != nil
    let period = MonitorThread.usualPolling / .seconds(1)
    return .init(
      name: "netlink events",
      isThere: isThere,
      remark: isThere
        ? "changes are told at once" : "changes are only seen every \(Int(period)) seconds"
    )
  }

  private var wireless: NetworkReport.Source {
    let isThere = WirelessReader().isThere
    return .init(
      name: "nl80211",
      isThere: isThere,
      remark: isThere
        ? "Wi-Fi is known as such, and what it says of its cost is heard"
        : "there is no Wi-Fi here, or this system hides it"
    )
  }

  private var interfaces: NetworkReport.Source {
    // Sysfs may be absent, or show another network than the one that this process is in.
    let links = (try? LiveKernel().links(.all)) ?? []
    let isThere = !links.isEmpty && links.allSatisfy { SysfsInterface($0) != nil }
    return .init(
      name: "sysfs",
      isThere: isThere,
      remark: isThere
        ? "the types of devices can be read" : "modems and phones are known by their drivers only"
    )
  }

  private var daemons: [NetworkReport.Source] {
    let bus = services.system.open()
    let known = [
      (
        "NetworkManager", NetworkManagerQuestion.service,
        "its settings for metered networks are heeded", "no settings for metered networks are known from it"
      ),
      ("ModemManager", ModemManagerQuestion.service, "roaming can be told", "roaming cannot be told"),
    ]
    return known.map { name, service, gain, loss in
      let isThere = bus?.isRunning(service) ?? false
      return .init(
        name: name,
        isThere: isThere,
        remark: isThere ? "it runs: \(gain)" : "it does not run: \(loss)"
      )
    }
  }

  /// Only where it would be asked.
  private var portal: [NetworkReport.Source] {
    guard services.portal != .none else { return [] }
    let isThere = services.portal.open().flatMap { PortalQuestion.status($0) } != nil
    let remark = isThere ? "it tells this sandbox what data costs" : "it tells this sandbox nothing"
    return [.init(name: "portal", isThere: isThere, remark: remark)]
  }
}

extension BusAsking {
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

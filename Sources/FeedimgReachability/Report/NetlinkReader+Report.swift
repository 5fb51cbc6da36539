extension NetlinkReader {
  /// Looks at everything there is to see, which may take some milliseconds.
  ///
  /// It opens all sources, also those that the present path does not need.
  package func report() -> NetworkReport {
    var report = NetworkReport(state: currentState(), sources: [], evidence: [])
    do throws(NetlinkError) {
      let kernel = try LiveKernel()
      report.sources.append(.init(name: "netlink", isThere: true, remark: "routes and links"))
      let resolver = PathResolver(kernel: kernel)
      for family in AddressFamily.allCases {
        let finding = try resolver.find(family)
        report.evidence += Evidence.lines(family, finding, kernel)
        guard report.identity == nil, case .path(let path) = finding else { continue }
        report.identity = NetworkSurvey(kernel: kernel).identity(path)
      }
    } catch {
      let remark = "neither routes nor links can be read (error \(error.number))"
      report.sources.append(.init(name: "netlink", isThere: false, remark: remark))
    }
    report.sources += [events, wireless, interfaces] + services
    return report
  }

  private var events: NetworkReport.Source {
    let isThere = (try? EventSocket()) != nil
    let period = Vigil.periodWithoutEvents / .seconds(1)
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
      remark: isThere ? "Wi-Fi and what it costs" : "no Wi-Fi here, or this system hides it"
    )
  }

  private var interfaces: NetworkReport.Source {
    // Sysfs may be absent, or show another network than the one that this process is in.
    let links = (try? LiveKernel().links(.all)) ?? []
    let isThere = !links.isEmpty && links.allSatisfy { SysfsInterface($0) != nil }
    return .init(
      name: "sysfs",
      isThere: isThere,
      remark: isThere ? "types of devices" : "phones and modems are only told by their drivers"
    )
  }

  private var services: [NetworkReport.Source] {
    let bus = self.bus.open() ?? BusChoice.system.open()
    let known = [
      ("NetworkManager", NetworkManagerQuestion.service, "settings for metered networks"),
      ("ModemManager", ModemManagerQuestion.service, "roaming"),
    ]
    return known.map { name, service, purpose in
      let isThere = bus?.isRunning(service) ?? false
      return .init(name: name, isThere: isThere, remark: isThere ? purpose : "does not run: no \(purpose)")
    }
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

import CTestKernel
import Glibc
import TestSystem
import Testing

@testable import FeedimgReachability

@Suite(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
struct NetworkReportTests {
  @Test func `a report has the sources and the evidence`() throws {
    let namespace = try Namespace()
    namespace.ip("\(LivePathTests.cables)\nroute add default via 192.0.2.1 metric 5")
    let report = namespace.run { NetlinkReader().report() }
    #expect(report.sources.prefix(3).map(\.name) == ["netlink", "netlink events", "event filter"])
    #expect(report.sources.prefix(3).allSatisfy { $0.verdict == .available })
    // This process has the sysfs of another network.
    #expect(report.sources.first { $0.name == "sysfs" }?.verdict == .missing)
    #expect(report.evidence.first == "v4: default via 192.0.2.1 dev left metric 5")
    #expect(report.evidence.last == "v6: none: there is no route to the internet")
    #expect(report.evidence.contains { $0.contains("kind veth") && $0.contains("driver veth") })
  }

  @Test func `a report shows that netlink is refused`() throws {
    let namespace = try Namespace()
    let report = namespace.run { () -> NetworkReport? in
      test_refuse_sockets(AF_NETLINK) == 0 ? NetlinkReader().report() : nil
    }
    let sources = try #require(report).sources
    #expect(
      sources.first { $0.name == "netlink" }?.remark
        == "the kernel reports no routes and links (error 1); feedimg only detects whether a route exists"
    )
    #expect(
      sources.first { $0.name == "netlink events" }?.remark == "feedimg reads the network every 5 seconds"
    )
    #expect(!sources.contains { $0.name == "event filter" })
    #expect(report?.evidence.isEmpty == true)
  }

  @Test func `a link is printed with the kernel's numbers`() {
    let link = Link(
      index: 3,
      name: "wlan0.5",
      flags: 0x11043,
      operationalState: 6,
      hasCarrier: true,
      kind: "vlan",
      lower: 2,
      isLowerElsewhere: true,
      master: 4,
      parentDevice: "1-1:1.0",
      parentBus: "usb"
    )
    #expect(
      Evidence.line(link)
        == "3: wlan0.5 type 1 flags 0x11043 state 6 carrier 1 kind vlan on 2 elsewhere master 4 device usb/1-1:1.0"
    )
    let hardware = Hardware(
      deviceType: "wwan",
      driver: "cdc_ether",
      wirelessMode: .client,
      usb: USBDevice(vendor: 0x19d2, hasSerialPort: true)
    )
    #expect(Evidence.line(hardware) == "devtype wwan driver cdc_ether wireless client usb 19d2 serial")
  }
}

import FeedimgModel
import FeedimgSystem
import Synchronization
import TestSystem
import Testing

@testable import FeedimgReachability

/// NetworkManager and ModemManager, simulated by python-dbusmock on a private bus.
@Suite(
  .enabled(if: PrivateBus.isInstalled, "dbus-daemon or python3-dbusmock is not installed"),
  .timeLimit(.minutes(10))
)
struct LiveBusTests {
  /// Longer than in the product, because many processes of the tests wait for each other.
  private static let timeout = Duration.seconds(50)

  private func connect() throws -> (PrivateBus, SystemBus) {
    let services = try #require(PrivateBus())
    return (services, try #require(SystemBus(address: services.address, timeout: Self.timeout)))
  }

  @Test func `NetworkManager's setting of a device is read`() throws {
    let (services, bus) = try connect()
    for (value, expected) in [(0, nil), (1, Metered.yes), (2, .no), (3, .yes), (4, nil)] {
      #expect(services.order("device('eth\(value)', \(value))") == "done")
      let device = try #require(NetworkManagerClient.device("eth\(value)", bus))
      #expect(NetworkManagerClient.metered(device, bus) == expected, "NMMetered \(value)")
    }
    #expect(NetworkManagerClient.device("unheard0", bus) == nil)
  }

  @Test func `NetworkManager reports a captive portal`() throws {
    let (services, bus) = try connect()
    for (value, expected) in [(1, false), (2, true), (4, false)] {
      #expect(services.order("device('eth\(value)', 0, \(value))") == "done")
      let device = try #require(NetworkManagerClient.device("eth\(value)", bus))
      #expect(NetworkManagerClient.isCaptive(device, .v4, bus) == expected, "NMConnectivityState \(value)")
      // The property does not exist.
      #expect(!NetworkManagerClient.isCaptive(device, .v6, bus))
    }
  }

  @Test(arguments: [(false, 4), (true, 3)])
  func `the desktop portal reports metering`(_ isMetered: Bool, _ connectivity: Int) throws {
    let (services, bus) = try connect()
    #expect(PortalClient.advice(bus) == nil)
    #expect(services.order("portal(\(isMetered ? "True" : "False"), \(connectivity))") == "done")
    let advice = NetworkAdvice(statement: isMetered ? .portal : nil, isCaptive: connectivity == 3)
    #expect(PortalClient.advice(bus) == advice)
  }

  @Test func `the state of the modem service becomes the state of the network`() throws {
    let (services, bus) = try connect()
    #expect(services.order("modem('wwan0', 5, False)") == "done")
    let survey = NetworkSurvey(kernel: PathResolverTests.machine.routed(4)) { _ in
      nil
    } advise: {
      NetworkAdvice(on: $0, bus)
    }
    let state = try survey.state()
    #expect((state.kind, state.isRoaming, state.metered) == (.cellular, true, .yes))
    #expect(state.meteredReason == "the modem is roaming")
  }

  @Test func `ModemManager reports a roaming modem`() throws {
    let (services, bus) = try connect()
    #expect(ModemManagerClient.advice(device: "wwan0", bus) == nil)
    #expect(services.order("modem('wwan0', 5, False)") == "done")
    #expect(ModemManagerClient.advice(device: "wwan0", bus) == .init(isRoaming: true, isSuspended: false))
    #expect(ModemManagerClient.advice(device: "wwan1", bus) == nil)
  }

  @Test func `ModemManager reports a suspended modem`() throws {
    let (services, bus) = try connect()
    #expect(services.order("modem('wwan0', 1, True)") == "done")
    #expect(ModemManagerClient.advice(device: "wwan0", bus) == .init(isRoaming: false, isSuspended: true))
  }

  @Test func `a service that hangs leaves its earlier reply, and is asked again after an event`() throws {
    let services = try #require(PrivateBus())
    #expect(services.order("device('eth0', 1)") == "done")
    let path = NetworkPath(
      route: Route(family: .v4, nextHops: [.init(index: 3)]),
      nextHop: .init(index: 3),
      links: [Link(index: 3, name: "eth0")],
      end: LinkClass(medium: .ethernet, isTether: false, reason: "")
    )
    let bus = NetworkServices(system: .at(services.address, timeout: .seconds(3)))
    let adviser = NetworkAdviser(lifetime: .zero, pause: .seconds(3600))
    #expect(adviser.advice(on: path, from: bus).statement == .networkManager(.yes))
    #expect(services.order("hang()") == "done")
    // As for each reading after an event.
    adviser.forget()
    #expect(adviser.advice(on: path, from: bus).statement == .networkManager(.yes))
    #expect(services.order("") == "done")
    #expect(services.order("mark('eth0', 2)") == "done")
    #expect(adviser.advice(on: path, from: bus).statement == .networkManager(.yes), "it is not asked")
    adviser.forget()
    #expect(adviser.advice(on: path, from: bus).statement == .networkManager(.no))
  }

  @Test func `a lost bus is detected, and a missing bus is nil`() throws {
    var services = PrivateBus()
    let address = try #require(services).address
    let bus = try #require(SystemBus(address: address, timeout: Self.timeout))
    #expect(bus.isOpen)
    services = nil
    #expect(NetworkManagerClient.device("eth0", bus) == nil)
    #expect(!bus.isOpen)
    #expect(SystemBus(address: address) == nil)
    #expect(SystemBus(address: "no address at all") == nil)
  }

  @Test(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
  func `a changed setting is reported`() async throws {
    let services = try #require(PrivateBus())
    #expect(services.order("device('v0', 1)") == "done")
    let namespace = try Namespace()
    namespace.ip(
      """
      link add v0 type veth peer name p0
      link set p0 up
      link set v0 up
      addr add 192.0.2.2/24 dev v0
      route add default via 192.0.2.1
      """
    )
    let address = services.address
    let reader = NetlinkReader(services: NetworkServices(system: .at(address, timeout: Self.timeout)))
    var states = namespace.run { NetlinkMonitor(reader: reader).states() }.makeAsyncIterator()
    #expect(await states.next()?.metered == .yes)
    #expect(services.order("mark('v0', 2)") == "done")
    let state = await states.next()
    #expect(state?.metered == .no)
    #expect(state?.meteredReason == "NetworkManager reports it")
  }

  @Test(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
  func `a recent reply is not requested again, unless an event arrived`() async throws {
    let services = try #require(PrivateBus())
    #expect(services.order("device('v0', 1)") == "done")
    let namespace = try Namespace()
    namespace.ip(
      "link add v0 type veth peer name p0\nlink set p0 up\nlink set v0 up\nroute add default dev v0"
    )
    let address = services.address
    let reader = NetlinkReader(
      services: NetworkServices(system: .at(address, timeout: Self.timeout)),
      adviceLifetime: .seconds(3600)
    )
    #expect(namespace.run { reader.currentState() }.metered == .yes)
    #expect(services.order("mark('v0', 2)") == "done")
    #expect(namespace.run { reader.currentState() }.metered == .yes)
    var states = namespace.run { NetlinkMonitor(reader: reader).states() }.makeAsyncIterator()
    #expect(await states.next()?.metered == .no)
    #expect(namespace.run { reader.currentState() }.metered == .no)
    #expect(services.order("mark('v0', 1)") == "done")
    #expect(await states.next()?.metered == .yes)
    #expect(namespace.run { reader.currentState() }.metered == .yes)
  }

  @Test(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
  func `a change of the portal is reported`() async throws {
    let services = try #require(PrivateBus())
    #expect(services.order("portal(True, 4)") == "done")
    let namespace = try Namespace()
    namespace.ip(
      "link add v0 type veth peer name p0\nlink set p0 up\nlink set v0 up\nroute add default dev v0"
    )
    let address = services.address
    let reader = NetlinkReader(services: NetworkServices(portal: .at(address, timeout: Self.timeout)))
    var states = namespace.run { NetlinkMonitor(reader: reader).states() }.makeAsyncIterator()
    #expect(await states.next()?.metered == .yes)
    #expect(services.order("portal_says(False, 4)") == "done")
    #expect(await states.next()?.metered == .unknown)
  }

  @Test(.enabled(if: Namespace.isPermitted, "this system refuses network namespaces"))
  func `the services are chosen for each reading`() throws {
    let services = try #require(PrivateBus())
    #expect(services.order("device('v0', 1)") == "done")
    #expect(services.order("portal(True, 4)") == "done")
    let namespace = try Namespace()
    namespace.ip(
      "link add v0 type veth peer name p0\nlink set p0 up\nlink set v0 up\nroute add default dev v0"
    )
    let choice = Mutex(NetworkServices.none)
    let reader = NetlinkReader(services: choice.withLock { $0 })
    var reasons: [String] = []
    for next in [
      NetworkServices.none, .init(system: .at(services.address, timeout: Self.timeout)), .none,
      .init(portal: .at(services.address, timeout: Self.timeout)),
    ] {
      choice.withLock { $0 = next }
      reasons.append(namespace.run { reader.currentState() }.meteredReason)
    }
    let unknown = "the hardware behind the virtual link is unknown"
    #expect(reasons == [unknown, "NetworkManager reports it", unknown, "the desktop portal reports it"])
  }
}

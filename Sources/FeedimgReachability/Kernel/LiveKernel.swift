import CNetlink
import FeedimgSystem
import Glibc

/// The kernel of this system, queried over netlink, sysfs and ethtool.
///
/// Not thread-safe: ``NetlinkReader`` gives it to one thread at a time.
final class LiveKernel: KernelQuerying {
  /// The number of times to read a list that changes while it is read.
  private static let mostAttempts = 3
  /// The most devices to remember; no path has more interfaces.
  private static let mostDevices = 32

  private let routes: NetlinkSocket
  private let wireless = WirelessReader()
  private let files = SystemFiles()
  /// The properties of devices, which do not change while their interfaces exist.
  private var known: [DeviceIdentity: Hardware] = [:]

  /// Opens the socket for routes and links.
  ///
  /// Other sockets open when they are needed.
  init() throws(NetlinkError) {
    routes = try NetlinkSocket(family: NETLINK_ROUTE)
  }

  func route(_ request: RouteRequest) throws(NetlinkError) -> RouteReply {
    var reply: RouteReply?
    do throws(NetlinkError) {
      try routes.exchange(request.request) { reply = RouteReply($0) }
    } catch {
      guard error.code == .negative, let negative = RouteRequest.reply(errorNumber: error.number) else {
        throw error
      }
      return negative
    }
    guard let reply else { throw NetlinkError(code: .malformed) }
    return reply
  }

  func hostRoutes(_ family: AddressFamily) throws(NetlinkError) -> [Route] {
    try list(Route.listRequest(family)) { message in
      guard case .route(let route)? = RouteReply(message), route.family == family,
        route.prefixLength == family.addressLength
      else { return nil }
      return route
    }
  }

  func links(_ request: LinkRequest) throws(NetlinkError) -> [Link] {
    do throws(NetlinkError) {
      return try list(request.request) { Link($0) }
    } catch {
      // The interface has disappeared meanwhile.
      guard error == NetlinkError(code: .negative, number: ENODEV) else { throw error }
      return []
    }
  }

  func marks(_ family: AddressFamily) throws(NetlinkError) -> [UInt32] {
    do throws(NetlinkError) {
      return RuleMark.inOrder(try list(RuleMark.request(family)) { RuleMark($0) })
    } catch {
      // A kernel without policy routing has no rules.
      guard error == NetlinkError(code: .negative, number: EOPNOTSUPP) else { throw error }
      return []
    }
  }

  func hardware(of link: Link) -> Hardware {
    var hardware = known[DeviceIdentity(link)] ?? readDevice(of: link)
    if hardware.mayBeWireless { hardware.wirelessMode = wireless.mode(of: link) }
    return hardware
  }

  func hasDevice(_ link: Link) -> Bool {
    // A tunnel also has a driver, but no device. Without sysfs, only the driver can tell.
    guard let folder = SysfsInterface(link) else {
      return driver(of: link).map(Driver.init) == .modem
    }
    return folder.hasDevice
  }

  func wirelessNetwork(of link: Link) -> WirelessNetwork? {
    wireless.network(of: link)
  }

  func isLeasedByPhone(_ link: Link) -> Bool {
    files.read("/run/systemd/netif/leases/\(link.index)").map(Lease.isOfPhone) ?? false
  }

  func lowerLinks(of link: Link) throws(NetlinkError) -> [Link] {
    var lower: [Link] = []
    for index in SysfsInterface(link)?.lowerIndices ?? [] { lower += try links(.link(index)) }
    return lower
  }

  func isPPPOverTunnel(_ link: Link) -> Bool {
    // pppd writes its process number to a file named after the interface. In `stat`, the second word after
    // the program's name is the number of the parent process, which may be the tunnel program.
    guard let number = files.read("/run/\(link.name).pid")?.prefix(while: \.isNumber), !number.isEmpty,
      let own = files.read("/proc/\(number)/cmdline")
    else { return false }
    let parent = files.read("/proc/\(number)/stat")?.split(separator: ")").last?.split(separator: " ")
    let parents = parent.flatMap { $0.count > 1 ? files.read("/proc/\($0[1])/comm") : nil } ?? ""
    return PPPCommand.isTunnel(own.split(separator: "\0") + [Substring(parents)])
  }

  func carriersOfPPPoE() -> [String] {
    PPPoESession.carriers(inTable: files.read("/proc/net/pppoe") ?? "")
  }

  private func readDevice(of link: Link) -> Hardware {
    var hardware = Hardware()
    let folder = SysfsInterface(link)
    hardware.deviceType = folder?.deviceType
    // If sysfs does not show this namespace, only nl80211 knows.
    hardware.mayBeWireless = folder == nil || hardware.deviceType == "wlan"
    hardware.driver = driver(of: link)
    if hardware.driver.map(Driver.init) == .shared {
      // Not cached: the serial ports of a modem appear after its network interface.
      hardware.usb = USBDevice(behind: link)
    } else {
      if known.count >= Self.mostDevices { known = [:] }
      known[DeviceIdentity(link)] = hardware
    }
    return hardware
  }

  private func driver(of link: Link) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(FEEDIMG_DRIVER_LENGTH)) { text in
      guard feedimg_link_driver(routes.descriptor, link.name, text.baseAddress) == 0 else { return nil }
      return String(decoding: UnsafeRawBufferPointer(text).prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  private func list<Element>(
    _ request: NetlinkRequest,
    _ element: (NetlinkMessage) -> Element?
  ) throws(NetlinkError) -> [Element] {
    var attempt = 1
    while true {
      var elements: [Element] = []
      do throws(NetlinkError) {
        try routes.exchange(request) { message in
          if let element = element(message) { elements.append(element) }
        }
        return elements
      } catch {
        guard error.code == .interrupted, attempt < Self.mostAttempts else { throw error }
        attempt += 1
      }
    }
  }
}

/// Distinguishes the device of an interface from that of a later interface with the same index.
private struct DeviceIdentity: Hashable {
  let index: Int32
  let name: String
  let hardwareType: UInt16
  let kind: String?
  let parentDevice: String?

  init(_ link: Link) {
    (index, name, hardwareType) = (link.index, link.name, link.hardwareType)
    (kind, parentDevice) = (link.kind, link.parentDevice)
  }
}

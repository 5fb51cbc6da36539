package import FeedimgModel
import FeedimgSystem
import Synchronization

/// Reads the state of the network from the kernel, over netlink.
///
/// Has no thread. Opens a socket at the first reading and keeps it, so that later readings take a few
/// requests of some microseconds. After some readings, it also receives events, and returns the latest state
/// until one arrives.
package final class NetlinkReader: Sendable {
  /// The connection while no thread uses it.
  ///
  /// A thread takes it out of the mutex. A second thread at the same time opens its own.
  private let idleKernel = Mutex<KernelConnection?>(nil)

  private let choose: @Sendable () -> NetworkServices
  private let adviceLifetime: Duration
  private let peer: @Sendable () -> String?
  private let mark: @Sendable ([NetworkName]) -> Metered?

  /// Creates a reader without opening a socket.
  ///
  /// - Parameters:
  ///   - services: Chooses the services to ask besides the kernel, for each reading. Asking them takes about a
  ///     millisecond the first time, later some tenths.
  ///   - adviceLifetime: The lifetime of their replies. Zero asks at each reading.
  ///   - peer: The address of the last server that responded, such as `192.0.2.1`. The reader follows the
  ///     route to it.
  ///   - mark: The user's mark of a network, or nil. Takes the names of the network, at least one and the most
  ///     specific first. Called on any thread.
  package init(
    services: @escaping @autoclosure @Sendable () -> NetworkServices = .none,
    adviceLifetime: Duration = .zero,
    peer: @escaping @Sendable () -> String? = { nil },
    mark: @escaping @Sendable ([NetworkName]) -> Metered? = { _ in nil }
  ) {
    choose = services
    self.adviceLifetime = adviceLifetime
    self.peer = peer
    self.mark = mark
  }

  /// The number of readings before receiving events.
  ///
  /// Loading one image takes fewer, and opening a socket costs more.
  static let readingsBeforeEvents = 8

  /// The services to ask now.
  var services: NetworkServices { choose() }

  /// The state now, or the latest one if no event has arrived since.
  package func currentState() -> NetworkState { state(usesCache: true) }

  /// The state after an event, read from the kernel and the services without any cache.
  func freshState() -> NetworkState { state(usesCache: false) }

  private func state(usesCache: Bool) -> NetworkState {
    do throws(NetlinkError) {
      let connection = try takeConnection()
      let (services, peer) = (services, peer())
      // Always, so that events do not accumulate.
      connection.drainEvents()
      if usesCache, let latest = connection.latest, latest.isValid(for: services, peer, at: .now),
        latest.marks.allSatisfy({ mark($0.names) == $0.metered })
      {
        keep(connection)
        return latest.state
      }
      if !usesCache { connection.adviser.forget() }
      // Before the reading, so that no change is missed.
      connection.countReading(services)
      let reading = try read(connection, services, peer)
      connection.note(reading)
      // Not after an error: the rest of the reply is still in the socket.
      keep(connection, replacingOther: !usesCache)
      return reading.state
    } catch {
      return .unknown(error.reason, isReachable: IPAddress.isInternetRouted)
    }
  }

  private func read(
    _ connection: KernelConnection,
    _ services: NetworkServices,
    _ peer: String?
  ) throws(NetlinkError) -> Reading {
    let start = ContinuousClock.now
    var marks: [(names: [NetworkName], metered: Metered?)] = []
    let survey = NetworkSurvey(kernel: connection.kernel, peer: peer.flatMap { IPAddress($0) }) { names in
      let metered = self.mark(names)
      marks.append((names, metered))
      return metered
    } advise: {
      connection.adviser.advice(on: $0, from: services)
    }
    let state = try survey.state()
    return Reading(state: state, marks: marks, services: services, peer: peer, start: start)
  }

  private func takeConnection() throws(NetlinkError) -> KernelConnection {
    let idle = idleKernel.withLock { kernel in
      defer { kernel = nil }
      return kernel
    }
    if let idle { return idle }
    return KernelConnection(kernel: try LiveKernel(), adviser: NetworkAdviser(lifetime: adviceLifetime))
  }

  /// Keeps a connection for the next reading.
  ///
  /// That of a fresh reading replaces another one, whose replies of services may be older.
  private func keep(_ connection: KernelConnection, replacingOther: Bool = false) {
    idleKernel.withLock { if $0 == nil || replacingOther { $0 = connection } }
  }
}

/// The result of a reading, and its inputs besides the network.
private struct Reading {
  /// The longest validity, because some changes cause no event: those of an access point and of narrow routes.
  private static let longestLifetime = Duration.seconds(1)

  let state: NetworkState
  /// The marks of the networks on the path.
  let marks: [(names: [NetworkName], metered: Metered?)]
  let services: NetworkServices
  let peer: String?
  /// On a clock that continues while the machine sleeps.
  let start: ContinuousClock.Instant

  func isValid(for services: NetworkServices, _ peer: String?, at now: ContinuousClock.Instant) -> Bool {
    self.services == services && self.peer == peer && start.duration(to: now) < Self.longestLifetime
  }
}

/// A connection to the kernel and to services, with its latest reading.
///
/// A program that decides about many images reads as often. Checking for events takes one system call; a
/// reading takes a dozen.
// Only one thread at a time has it: a thread takes it out of the mutex, and keeps no reference after
// returning it.
private final class KernelConnection: @unchecked Sendable {
  let kernel: LiveKernel
  let adviser: NetworkAdviser
  /// The latest reading; nil if events arrived since its start, or are not received.
  private(set) var latest: Reading?
  private var readings = 0
  /// Nil until receiving events is worth its cost.
  private var events: NetworkEvents?

  init(kernel: LiveKernel, adviser: NetworkAdviser) { (self.kernel, self.adviser) = (kernel, adviser) }

  /// Discards events that have arrived, and all that they may have made outdated.
  func drainEvents() {
    guard let events, events.drain() != .none else { return }
    latest = nil
    adviser.forget()
  }

  func note(_ reading: Reading) {
    if events != nil { latest = reading }
  }

  /// Counts a reading that starts, and receives events once there were enough.
  func countReading(_ services: NetworkServices) {
    readings += 1
    guard readings > NetlinkReader.readingsBeforeEvents else { return }
    if events == nil, let netlink = try? NetlinkEvents() { events = NetworkEvents(netlink) }
    events?.listen(to: services)
  }
}

extension NetlinkError {
  /// The reason in words.
  fileprivate var reason: String {
    switch code {
    case .refused: "the system refuses netlink, so routes are unknown"
    case .negative, .malformed: "the system does not support netlink route requests"
    case .interrupted: "the network changes faster than it can be read"
    case .overrun: "the system lost part of its reply"
    }
  }
}

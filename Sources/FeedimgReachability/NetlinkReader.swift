package import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization

/// Reads the state of the network from the kernel, over netlink.
///
/// Has no thread. Opens a socket at the first reading and keeps it, so that later readings take a few
/// requests of some microseconds. After some readings, it also receives events, and returns the latest state
/// until one arrives.
package final class NetlinkReader: NetworkReading {
  /// The connection while no thread uses it.
  ///
  /// A thread takes it out of the mutex. A second thread at the same time opens its own.
  private let idleKernel = Mutex<KernelConnection?>(nil)
  /// Guards the latest state.
  ///
  /// Readings run outside the lock.
  private let snapshots = Mutex(SnapshotCache())
  /// Guards the replies of services.
  ///
  /// Calls to services run outside the lock.
  private let adviceCache: Mutex<AdviceCache>

  /// The number of times that the kernel dropped events.
  let overruns = Atomic(0)

  private let choose: @Sendable () -> NetworkServices
  private let peer: @Sendable () -> String?
  private let mark: @Sendable (NetworkIdentity) -> Metered?

  /// Creates a reader without opening a socket.
  ///
  /// - Parameters:
  ///   - services: Chooses the services to ask besides the kernel, for each reading. Asking them takes about a
  ///     millisecond the first time, later some tenths.
  ///   - adviceLifetime: The lifetime of their replies. Zero asks at each reading.
  ///   - peer: The address of the last server that responded, such as `192.0.2.1`. The reader follows the
  ///     route to it.
  ///   - mark: The user's mark of a network, or nil. Called on any thread.
  package init(
    services: @escaping @autoclosure @Sendable () -> NetworkServices = .none,
    adviceLifetime: Duration = .zero,
    peer: @escaping @Sendable () -> String? = { nil },
    mark: @escaping @Sendable (NetworkIdentity) -> Metered? = { _ in nil }
  ) {
    choose = services
    adviceCache = Mutex(AdviceCache(lifetime: adviceLifetime))
    self.peer = peer
    self.mark = mark
  }

  /// The services to ask now.
  var services: NetworkServices { choose() }

  package func currentState() -> NetworkState { state(usesCache: true) }

  /// The state after an event, read from the kernel and the services without any cache.
  func freshState() -> NetworkState { state(usesCache: false) }

  private func state(usesCache: Bool) -> NetworkState {
    do throws(NetlinkError) {
      let connection = try takeConnection()
      let inputs = SnapshotCache.Inputs(services: services, peer: peer())
      // Always, so that events do not accumulate.
      let hasEvents = hasEvents(connection)
      if usesCache, !hasEvents, let state = cached(inputs, connection) {
        returnConnection(connection)
        return state
      }
      let (number, time) = (snapshots.withLock { $0.begin() }, ContinuousClock.now)
      // Before the reading, so that no change is missed.
      if number > SnapshotCache.readingsBeforeEvents { connection.listen(from: number, to: inputs.services) }
      let snapshot = try read(connection, inputs, ignoresCache: !usesCache)
      // Not after an error: the rest of the reply is still in the socket.
      returnConnection(connection)
      snapshots.withLock { $0.keep(snapshot, number, inputs, at: time) }
      return snapshot.state
    } catch {
      return .unknown(error.reason, isReachable: RouteProbe.hasRoute())
    }
  }

  /// Whether events arrived since the last call.
  ///
  /// If so, discards all cached values.
  private func hasEvents(_ connection: KernelConnection) -> Bool {
    guard let (events, _) = connection.listening, events.drain() != .none else { return false }
    snapshots.withLock { $0.forget() }
    adviceCache.withLock { $0.forget() }
    return true
  }

  /// The state of the latest reading, if it is still valid.
  private func cached(_ inputs: SnapshotCache.Inputs, _ connection: KernelConnection) -> NetworkState? {
    guard let (_, number) = connection.listening else { return nil }
    let snapshot = snapshots.withLock { $0.snapshot(inputs, eventsSince: number, at: .now) }
    guard let snapshot, snapshot.marks.allSatisfy({ mark($0.network) == $0.metered }) else { return nil }
    return snapshot.state
  }

  private func read(
    _ connection: KernelConnection,
    _ inputs: SnapshotCache.Inputs,
    ignoresCache: Bool
  ) throws(NetlinkError) -> SnapshotCache.Snapshot {
    var marks: [(network: NetworkIdentity, metered: Metered?)] = []
    let peer = inputs.peer.flatMap { IPAddress($0) }
    let survey = NetworkSurvey(kernel: connection.kernel, peer: peer) { network in
      let metered = self.mark(network)
      marks.append((network, metered))
      return metered
    } advise: {
      self.advice(on: $0, from: inputs.services, by: connection.adviser, ignoresCache: ignoresCache)
    }
    let state = try survey.state()
    return SnapshotCache.Snapshot(state: state, marks: marks)
  }

  private func advice(
    on path: NetworkPath,
    from services: NetworkServices,
    by adviser: NetworkAdviser,
    ignoresCache: Bool
  ) -> NetworkAdvice {
    guard services != .none else { return NetworkAdvice() }
    let now = ContinuousClock.now
    let known = ignoresCache ? nil : adviceCache.withLock { $0.advice(on: path, from: services, at: now) }
    if let known { return known }
    let advice = adviser.advice(on: path, from: services)
    adviceCache.withLock { $0.note(advice, on: path, from: services, askedAt: now) }
    return advice
  }

  private func takeConnection() throws(NetlinkError) -> KernelConnection {
    let idle = idleKernel.withLock { kernel in
      defer { kernel = nil }
      return kernel
    }
    if let idle { return idle }
    return KernelConnection(kernel: try LiveKernel())
  }

  private func returnConnection(_ connection: KernelConnection) {
    idleKernel.withLock { $0 = $0 ?? connection }
  }
}

// Only one thread at a time has it: a thread takes it out of the mutex, and keeps no reference after
// returning it.
private final class KernelConnection: @unchecked Sendable {
  let kernel: LiveKernel
  let adviser = NetworkAdviser()
  /// The events since the reading with this number; nil until receiving events is worth its cost.
  private(set) var listening: (events: NetworkEvents, number: Int)?

  init(kernel: LiveKernel) { self.kernel = kernel }

  func listen(from number: Int, to services: NetworkServices) {
    if listening == nil, let events = try? NetlinkEvents(isForAll: true) {
      listening = (NetworkEvents(events), number)
    }
    listening?.events.listen(to: services)
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

/// Caches the result of the latest reading.
///
/// It is valid until an event, and for a second at most.
///
/// A program that decides about many images reads as often. Checking for events takes one system call; a
/// reading takes a dozen.
struct SnapshotCache {
  /// The inputs of a reading besides the network.
  struct Inputs: Equatable {
    var services: NetworkServices
    var peer: String?
  }

  /// The result of a reading.
  struct Snapshot {
    var state: NetworkState
    /// The marks of the networks on the path.
    var marks: [(network: NetworkIdentity, metered: Metered?)] = []
  }

  /// The number of readings before receiving events.
  ///
  /// Loading one image takes fewer, and opening a socket costs more.
  static let readingsBeforeEvents = 8
  /// The longest lifetime, because some changes cause no event, such as those of an access point.
  static let longestLifetime = Duration.seconds(1)

  private var order = ReadingOrder()
  private var known: (number: Int, snapshot: Snapshot, inputs: Inputs, time: ContinuousClock.Instant)?

  /// Starts a reading, and returns its number, counted from 1.
  mutating func begin() -> Int { order.begin() }

  /// Keeps the result of a reading, unless a later reading has ended or an event arrived since its start.
  ///
  /// Times are those of a clock that continues while the machine sleeps.
  mutating func keep(
    _ snapshot: Snapshot,
    _ number: Int,
    _ inputs: Inputs,
    at time: ContinuousClock.Instant
  ) {
    if order.end(number), order.isCurrent { known = (number, snapshot, inputs, time) }
  }

  /// Discards the result, and those of running readings, because an event arrived.
  mutating func forget() {
    order.invalidate()
    known = nil
  }

  /// The latest result; nil if a reading is needed.
  ///
  /// It must be from the reading with this number, since which events are received, or from a later one.
  func snapshot(_ inputs: Inputs, eventsSince number: Int, at time: ContinuousClock.Instant) -> Snapshot? {
    guard let known, known.number >= number, known.inputs == inputs,
      known.time.duration(to: time) < Self.longestLifetime
    else { return nil }
    return known.snapshot
  }
}

/// Checks for a route to the internet on systems that refuse netlink.
enum RouteProbe {
  /// Whether the kernel has a route to the internet.
  ///
  /// Connects a datagram socket, which makes the kernel look up the route but sends nothing.
  static func hasRoute() -> Bool {
    AddressFamily.allCases.contains { family in family.probes.contains(where: canConnect) }
  }

  private static func canConnect(to address: IPAddress) -> Bool {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address.description, "53", &hints, &list) == 0, let name = list?.pointee else {
      return false
    }
    defer { freeaddrinfo(list) }
    let handle = socket(name.ai_family, name.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard handle >= 0 else { return false }
    defer { close(handle) }
    return connect(handle, name.ai_addr, name.ai_addrlen) == 0
  }
}

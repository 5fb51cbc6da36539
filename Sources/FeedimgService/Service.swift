import CRuntime
public import Feedimg
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// One loader for all clients of a user, over HTTP.
public final class Service: Sendable {
  private struct State {
    var listeners: [any Channel] = []
    var unixSocket: UnixSocket?
    var addresses: [String] = []
    var token: AccessToken?
    var heartbeat: RepeatedTask?
  }

  private let configuration: ServiceConfiguration
  private let manager: ServiceManager
  private let limits: ConnectionLimits
  private let loader: ImageLoader
  private let routes: RouteTable
  private let register: ConnectionRegister
  private let hub: EventHub
  private let sources: EventSources
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  /// Guards what is open.
  private let state = Mutex(State())

  /// Makes a service that does not listen yet.
  ///
  /// - Throws: ``ConfigurationError`` for a policy, an override or a folder that cannot be used.
  public convenience init(_ configuration: ServiceConfiguration) throws(ConfigurationError) {
    try self.init(configuration, limits: ConnectionLimits())
  }

  init(_ configuration: ServiceConfiguration, limits: ConnectionLimits) throws(ConfigurationError) {
    self.configuration = configuration
    self.limits = limits
    manager = ServiceManager(environment: configuration.loader.environment)
    var configured = configuration.loader
    configured.reachesPrivateHosts = configuration.allowsPrivateHosts
    loader = try ImageLoader(configured)
    let descriptors = DescriptorLimit.raise()
    register = ConnectionRegister(
      limit: min(limits.connections, descriptors / 2),
      bodyLimit: limits.bodies,
      giveBack: { feedimg_trim_heap() },
      rest: { [loader] in loader.rest() }
    )
    let upgrades = UpgradeWatch(loader)
    let sources = EventSources(configuration.loader, loader: loader, upgrades: upgrades) {
      [group] delay, work in
      let nanoseconds = delay.components.attoseconds / 1_000_000_000
      // When the service has ended, nobody reads any more.
      _ = group.next().scheduleTask(in: .nanoseconds(nanoseconds), work)
    }
    let metrics = ServiceMetrics()
    hub = EventHub(EventLog(run: Self.name())) { sources.start(telling: $0) }
    self.sources = sources
    routes = try ServiceRoutes(
      configuration: configured,
      loader: loader,
      metrics: metrics,
      hub: hub,
      register: register,
      upgrades: upgrades,
      descriptors: descriptors,
      items: configuration.items
    ).table()
  }

  /// Where clients reach the service, once it listens: paths of sockets, and URLs.
  public var addresses: [String] { state.withLock { $0.addresses } }

  /// The address of the page for a browser, with the token where one is needed; nil unless it listens on a port.
  ///
  /// The token stands in the fragment, which browsers do not send and do not tell to other pages.
  public var page: String? {
    let (address, token) = state.withLock { ($0.addresses.first { $0.hasPrefix("http") }, $0.token) }
    return address.map { "\($0)/" + (token.map { "#token=\($0.text)" } ?? "") }
  }

  /// What the user should know, each thing once.
  public var warnings: [String] { loader.warnings }

  /// Where the token for clients over TCP is kept.
  ///
  /// - Throws: ``ConfigurationError`` where no folder is known.
  public func tokenFile() throws(ConfigurationError) -> String {
    let settings = try Settings(configuration.loader).path
    return settings.prefix(upTo: settings.lastIndex(of: "/") ?? settings.startIndex) + "/service-token"
  }

  /// Begins to listen.
  ///
  /// - Throws: ``ServiceError`` where it cannot.
  public func start() async throws(ServiceError) {
    // Better now than when somebody opens the page.
    _ = try ItemsRoute(file: configuration.items).items()
    var sockets = try manager.sockets()
    if sockets.isEmpty { sockets = try openSockets() }
    var token: AccessToken?
    if configuration.needsToken, sockets.contains(where: { $0.place.isPort }) { token = try makeToken() }
    state.withLock { $0.token = token }
    for socket in sockets { try await listen(on: socket, token: token) }
    startHeartbeat()
  }

  /// Says to the service manager that clients are served.
  public func reportReady() { manager.isReady() }

  /// Reads everything that is kept in files again, as it does by itself whenever they are used.
  public func reload() {
    manager.isReloading()
    sources.tellPolicy(to: hub)
    manager.isReady()
  }

  /// Lets nobody in any more, finishes what clients wait for, and ends.
  ///
  /// - Parameter patience: What is not finished by then is broken off.
  public func stop(within patience: Duration) async {
    manager.isStopping()
    for listener in state.withLock({ $0.listeners }) { try? await listener.close() }
    // Let go outside the lock: that removes the socket.
    _ = state.withLock { state in
      defer { state.unixSocket = nil }
      return state.unixSocket
    }
    sources.end()
    hub.end()
    register.drain()
    let breakOff = Task { [register] in
      try await Task.sleep(for: patience)
      register.closeAll()
    }
    await register.empty()
    // Servers that were asked whether their images are still the same may answer.
    _ = await loader.finishRevalidations(within: min(patience, .seconds(2)))
    breakOff.cancel()
    state.withLock { $0.heartbeat }?.cancel()
    try? await group.shutdownGracefully()
    // Of what goes on without clients, such as a prefetch.
    writeUsage()
  }

  /// Writes down what has been received so far, for who ends in the midst of transfers; waits for the disk alone.
  public func writeUsage() { loader.writeUsage() }

  private func openSockets() throws(ServiceError) -> [ListeningSocket] {
    var sockets: [ListeningSocket] = []
    if configuration.socket != nil || configuration.port == nil {
      let socket = try UnixSocket(path: try configuration.socketPath())
      sockets.append(socket.socket)
      state.withLock { $0.unixSocket = socket }
    }
    if let port = configuration.port { sockets.append(try .loopback(port: port)) }
    return sockets
  }

  private func makeToken() throws(ServiceError) -> AccessToken {
    let path: String
    do throws(ConfigurationError) {
      path = try tokenFile()
    } catch {
      throw ServiceError(error.description)
    }
    return try AccessToken(file: path)
  }

  private func listen(on socket: ListeningSocket, token: AccessToken?) async throws(ServiceError) {
    let (routes, limits, register) = (routes, limits, register)
    var bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: ListeningSocket.backlog)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        guard register.admit(channel) else { return channel.close() }
        return AccessRule.rule(of: channel, at: socket.place, token: token).flatMapThrowing { access in
          var decoding = NIOHTTPDecoderLimitConfiguration()
          decoding.maxHeaderFieldSize = limits.head
          decoding.maxHeaderListSize = limits.head
          decoding.maxHeaderFieldCount = limits.fieldCount
          let connection = ConnectionHandler(
            routes: routes,
            access: access,
            limits: limits,
            register: register
          )
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(PlainRequestHandler(answering: connection))
          try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withErrorHandling: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoding
          )
          try pipeline.addHandler(connection)
        }
      }
    if !socket.place.isPort {
      // Of itself the kernel takes just less than the larger images at once; over TCP it finds out by itself.
      bootstrap = bootstrap.childChannelOption(
        .socketOption(.so_sndbuf),
        value: .init(ConnectionLimits.unixSendBuffer)
      )
    }
    do {
      let channel = try await bootstrap.withBoundSocket(socket.descriptor).get()
      state.withLock { state in
        state.listeners.append(channel)
        state.addresses.append(socket.place.text)
      }
    } catch {
      throw ServiceError("cannot listen on `\(socket.place.text)`: \(error)")
    }
  }

  /// Beats on the event loop, so that the manager hears nothing if the loop hangs.
  private func startHeartbeat() {
    guard let period = manager.watchdogPeriod else { return }
    let interval = TimeAmount.microseconds(Int64(period / 2))
    let heartbeat = group.next().scheduleRepeatedTask(initialDelay: interval, delay: interval) {
      [manager] _ in manager.isAlive()
    }
    state.withLock { $0.heartbeat = heartbeat }
  }

  /// What no other run of the service is called.
  private static func name() -> String {
    String(UInt64.random(in: .min ... .max), radix: 36)
  }
}

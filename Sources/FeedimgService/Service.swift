public import Feedimg
import FeedimgAdmin
import FeedimgSystem
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
    /// The description of the gateway, once it is written.
    var gateway: GatewayStatus?
  }

  private let configuration: ServiceConfiguration
  private let manager: ServiceManager
  private let limits: ConnectionLimits
  private let settings: Settings
  private let loader: ImageLoader
  private let routes: RouteTable
  private let register: ConnectionRegister
  private let requests = RepeatedRequests()
  private let hub: EventHub
  private let sources: EventSources
  private let prefetches = PrefetchRegistry()
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  /// Guards the open sockets and their addresses.
  private let state = Mutex(State())

  /// Makes a service that does not listen yet.
  ///
  /// - Throws: ``ConfigurationError`` for an invalid policy, override or folder.
  public convenience init(_ configuration: ServiceConfiguration) throws(ConfigurationError) {
    try self.init(configuration, limits: ConnectionLimits())
  }

  init(_ configuration: ServiceConfiguration, limits: ConnectionLimits) throws(ConfigurationError) {
    self.configuration = configuration
    self.limits = limits
    manager = ServiceManager(environment: configuration.loader.environment)
    var configured = configuration.loader
    configured.reachesPrivateHosts = configuration.allowsPrivateHosts
    let parts = try LoaderParts(configured)
    // Clients read the price of the network also where the policy ignores it.
    parts.requireCost()
    loader = try ImageLoader(configured, parts: parts)
    settings = Settings(sharing: parts)
    let descriptors = DescriptorLimit.raise()
    register = ConnectionRegister(
      limit: min(limits.connections, descriptors / 2),
      bodyLimit: limits.bodies,
      releaseMemory: { FreedMemory.giveBack() },
      rest: { [loader] in loader.rest() }
    )
    let upgrades = UpgradePublisher(loader)
    let sources = EventSources(
      loader,
      network: NetworkStatus(sharing: parts),
      settings: settings,
      upgrades: upgrades
    ) { [group] delay, work in
      // A loop that has ended runs no work; there are no readers then.
      _ = group.next().scheduleTask(in: TimeAmount(delay), work)
    }
    hub = EventHub(EventLog(run: Self.runName())) { sources.start(on: $0) }
    self.sources = sources
    routes = try ServiceRoutes(
      configuration: configured,
      parts: parts,
      loader: loader,
      hub: hub,
      register: register,
      upgrades: upgrades,
      prefetches: prefetches,
      descriptors: descriptors,
      forwarded: configuration.forwardedHeaders,
      items: ItemsRoute(file: configuration.items, feed: configuration.feed),
      gateway: configuration.gateway
    ).table()
  }

  /// The addresses of the service, once it listens: paths of sockets, and URLs.
  public var addresses: [String] { state.withLock { $0.addresses } }

  /// The address of the page with the token, if any; nil unless the service listens on a port.
  ///
  /// The token is in the fragment, which browsers send to no server and show to no other page.
  public var page: String? {
    let (address, token) = state.withLock { ($0.addresses.first { $0.hasPrefix("http") }, $0.token) }
    return address.map { "\($0)/" + (token.map { "#token=\($0.text)" } ?? "") }
  }

  /// Warnings for the user, each of them once.
  public var warnings: [String] { loader.warnings }

  /// The file with the token for clients over TCP.
  public var tokenFile: String { AccessToken.file("service-token", beside: settings.path) }

  /// Replaces the token of the gateway, which revokes the addresses that it gave out.
  ///
  /// A running service uses the new token at once.
  ///
  /// - Returns: The new token.
  /// - Throws: ``ServiceError`` if the file cannot be written.
  public func replaceGatewayToken() throws(ServiceError) -> String {
    try AccessToken.replaced(in: gatewayTokenFile).text
  }

  private var gatewayTokenFile: String { AccessToken.file("gateway-token", beside: settings.path) }

  /// Describes the gateway for `feedimg gateway` and `feedimg doctor`.
  private func publishGateway() throws(ServiceError) {
    guard let gateway = configuration.gateway else { return }
    _ = try AccessToken(file: gatewayTokenFile)
    let address = addresses.first { $0.hasPrefix("http") }
    let status = GatewayStatus(address: address, server: gateway.mastodon)
    do throws(FileFault) {
      try status.write(to: gatewayFolder)
    } catch {
      throw ServiceError("\(error)")
    }
    state.withLock { $0.gateway = status }
  }

  /// Removes the description, unless another service has replaced it.
  private func withdrawGateway() {
    guard let status = state.withLock({ $0.gateway }), status.isWritten(to: gatewayFolder) else { return }
    unlink(GatewayStatus.path(in: gatewayFolder))
  }

  private var gatewayFolder: String { FilePath(settings.path).folder }

  /// Starts listening.
  ///
  /// - Throws: ``ServiceError`` if it cannot.
  public func start() async throws(ServiceError) {
    // An invalid file fails at the start rather than on the page.
    _ = try ItemsRoute(file: configuration.items, feed: configuration.feed).items()
    var sockets = try manager.sockets()
    if sockets.isEmpty { sockets = try openSockets() }
    var token: AccessToken?
    if configuration.needsToken, sockets.contains(where: { $0.place.isPort }) {
      token = try AccessToken(file: tokenFile)
    }
    state.withLock { $0.token = token }
    for socket in sockets { try await listen(on: socket, token: token) }
    try publishGateway()
    startHeartbeat()
  }

  /// Reports to the service manager that the service accepts clients.
  public func reportReady() { manager.isReady() }

  /// Reads the policy file again, as also happens at each use, and publishes a change.
  public func reload() {
    manager.isReloading()
    sources.publishPolicy(on: hub)
    manager.isReady()
  }

  /// Accepts no more clients, finishes the responses under way, and stops.
  ///
  /// - Parameter gracePeriod: The time after which open connections are closed.
  public func stop(within gracePeriod: Duration) async {
    manager.isStopping()
    withdrawGateway()
    for listener in state.withLock({ $0.listeners }) { try? await listener.close() }
    // Released outside the lock, as that removes the socket.
    _ = state.withLock { state in
      defer { state.unixSocket = nil }
      return state.unixSocket
    }
    sources.end()
    hub.end()
    prefetches.end()
    register.drain()
    let deadline = Task(executorPreference: TaskThread.executor) { [register] in
      try await Task.sleep(for: gracePeriod)
      register.closeAll()
    }
    await register.empty()
    // Revalidations under way may complete.
    _ = await loader.finishRevalidations(within: min(gracePeriod, .seconds(2)))
    deadline.cancel()
    state.withLock { $0.heartbeat }?.cancel()
    try? await group.shutdownGracefully()
    // A prefetch may have received more without clients.
    writeUsage()
  }

  /// Writes the usage so far, before an exit during transfers; waits for the disk only.
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

  private func listen(on socket: ListeningSocket, token: AccessToken?) async throws(ServiceError) {
    let (routes, limits, register, requests) = (routes, limits, register, requests)
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
          try pipeline.addHandler(RepeatedRequestHandler(for: connection, requests))
          try pipeline.addHandler(MethodCheck(for: connection))
          try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withErrorHandling: false,
            // The connection checks all fields itself, as it must still send a response.
            withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoding
          )
          try pipeline.addHandler(connection)
        }
      }
    if !socket.place.isPort {
      // The default buffer is just smaller than a large image. TCP adapts its buffers by itself.
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

  /// Reports from the event loop, so that the manager notices a loop that hangs.
  private func startHeartbeat() {
    guard let period = manager.watchdogPeriod else { return }
    let interval = TimeAmount.microseconds(Int64(period / 2))
    let heartbeat = group.next().scheduleRepeatedTask(initialDelay: interval, delay: interval) {
      [manager] _ in manager.isAlive()
    }
    state.withLock { $0.heartbeat = heartbeat }
  }

  /// A name that no other run of the service has.
  private static func runName() -> String {
    String(UInt64.random(in: .min ... .max), radix: 36)
  }
}

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
    var token: AccessToken?
    var heartbeat: RepeatedTask?
    /// The description of the gateway, once it is written.
    var gateway: GatewayStatus?
    /// The version of the items that ``Service/warnings`` has read, and its warnings; nil before the first.
    var items: (stamp: FileStamp, warnings: [String])?
    /// Watches the files of the settings, the policy and the items.
    var files: FileWatcher?
  }

  private let configuration: ServiceConfiguration
  private let manager: ServiceManager
  private let limits: ConnectionLimits
  private let settings: Settings
  private let loader: ImageLoader
  private let routes: RouteTable
  private let register: ConnectionRegister
  private let requests = RepeatedRequests()
  private let publishers: EventPublishers
  private let prefetches: PrefetchRegistry
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
    var configuration = configuration
    configuration.loader.reachesPrivateHosts = configuration.allowsPrivateHosts
    self.configuration = configuration
    self.limits = limits
    manager = ServiceManager(environment: configuration.loader.environment)
    let parts = try LoaderParts(configuration.loader)
    // Clients read the price of the network also where the policy ignores it.
    parts.requireCost()
    loader = try ImageLoader(configuration.loader, parts: parts)
    settings = Settings(sharing: parts)
    register = ConnectionRegister(
      limit: min(limits.connections, DescriptorLimit.raise() / 2),
      bodyLimit: limits.bodies
    ) { [loader] in
      loader.rest()
      SystemMemory.trim()
    }
    publishers = EventPublishers(
      loader,
      network: NetworkStatus(sharing: parts),
      overrides: configuration.loader.overrides,
      settings: settings
    ) { [group] delay, work in
      // A loop that has ended runs no work; there are no readers then.
      _ = group.next().scheduleTask(in: TimeAmount(delay), work)
    }
    prefetches = PrefetchRegistry(loader)
    routes = try RouteTable(
      configuration,
      parts: parts,
      loader: loader,
      publishers: publishers,
      connectionCount: { [register] in register.count },
      prefetches: prefetches
    )
  }

  /// The addresses of the service, once it listens: paths of sockets, and URLs.
  public var addresses: [String] { state.withLock { $0.listeners }.compactMap { $0.localAddress?.text } }

  /// The address of the page with the token, if any; nil unless the service listens on a port.
  ///
  /// The token is in the fragment, which browsers send to no server and show to no other page.
  public var page: String? {
    let token = state.withLock { $0.token }
    return url.map { "\($0)/" + (token.map { "#token=\($0.text)" } ?? "") }
  }

  /// Warnings for the user about the settings, the policy and the items, each of them once.
  public var warnings: [String] {
    // Both read a file that has changed.
    _ = (settings.json, loader.policyJSON)
    return loader.warnings + itemWarnings()
  }

  /// The new warnings about the items, if their file has changed.
  ///
  /// None about a file that the page cannot show; its response has the reason.
  private func itemWarnings() -> [String] {
    guard let path = configuration.items else { return [] }
    let stamp = FileStamp(path: path)
    guard state.withLock({ $0.items?.stamp != stamp }), let warnings = try? configuration.readItems().warnings
    else { return [] }
    return state.withLock { state in
      let known = state.items?.warnings ?? []
      state.items = (stamp, warnings)
      return warnings.filter { !known.contains($0) }
    }
  }

  /// Reports new ``warnings`` soon after each change of the settings, the policy or the items.
  ///
  /// Reports none if the system grants no thread to watch the files.
  ///
  /// - Parameter report: Receives each warning, on the thread `feedimg-files`.
  public func watchWarnings(_ report: @escaping @Sendable (String) -> Void) {
    let paths: [String?] = [settings.path, configuration.items] + loader.policyInForce.candidates.map(\.path)
    let files = FileWatcher(paths.compactMap { $0 }) { [weak self] in
      for warning in self?.warnings ?? [] { report(warning) }
    }
    state.withLock { $0.files = files }
  }

  /// The file with the token for clients over TCP.
  public var tokenFile: String { "\(folder)/service-token" }

  private var gatewayTokenFile: String { GatewayStatus.tokenPath(in: folder) }
  private var folder: String { FilePath(settings.path).folder }
  private var url: String? { addresses.first { $0.hasPrefix("http") } }

  /// Replaces the token of the gateway, which revokes the addresses that it gave out.
  ///
  /// A running service uses the new token at once.
  ///
  /// - Returns: The new token.
  /// - Throws: ``ServiceError`` if the file cannot be written.
  public func replaceGatewayToken() throws(ServiceError) -> String {
    try AccessToken.replaced(in: gatewayTokenFile).text
  }

  /// Describes the gateway for `feedimg gateway` and `feedimg doctor`.
  private func publishGateway() throws(ServiceError) {
    guard let gateway = configuration.gateway else { return }
    _ = try AccessToken.stored(in: gatewayTokenFile)
    let status = GatewayStatus(address: url, server: gateway.mastodon)
    do throws(FileError) {
      try status.write(to: folder)
    } catch {
      throw ServiceError("\(error)")
    }
    state.withLock { $0.gateway = status }
  }

  /// Removes the description, unless another service has replaced it.
  private func withdrawGateway() {
    guard let status = state.withLock({ $0.gateway }), status.isWritten(to: folder) else { return }
    unlink(GatewayStatus.path(in: folder))
  }

  /// Starts listening.
  ///
  /// - Throws: ``ServiceError`` if it cannot.
  public func start() async throws(ServiceError) {
    // An invalid file fails at the start rather than on the page.
    _ = try configuration.readItems()
    let inherited = try manager.sockets()
    let hasPort = inherited.isEmpty ? configuration.port != nil : inherited.contains { !$0.isUnix }
    let token = configuration.needsToken && hasPort ? try AccessToken.stored(in: tokenFile) : nil
    let bootstrap = bootstrap(token)
    var listeners: [any Channel] = []
    for socket in inherited {
      let name = "descriptor \(socket.descriptor)"
      listeners.append(try await Self.listener(name, bootstrap.withBoundSocket(socket.descriptor)))
    }
    if inherited.isEmpty { listeners = try await openSockets(bootstrap) }
    for address in listeners.map(\.localAddress) where address?.isLocal != true {
      throw ServiceError(
        "the service manager passed a socket on \(address?.ipAddress ?? "") port \(address?.port ?? 0), "
          + "which other machines can reach; only 127.0.0.1 and ::1 are served"
      )
    }
    state.withLock { ($0.token, $0.listeners) = (token, listeners) }
    try publishGateway()
    for listener in listeners { listener.setOption(.autoRead, value: true).whenComplete { _ in } }
    startHeartbeat()
  }

  /// Reports to the service manager that the service accepts clients.
  public func reportReady() { manager.isReady() }

  /// Reads the policy file again, as also happens at each use, and publishes a change.
  public func reload() {
    manager.isReloading()
    publishers.publishPolicy()
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
    publishers.end()
    register.drain()
    prefetches.end()
    let deadline = Task(executorPreference: TaskThread.executor) { [register] in
      try await Task.sleep(for: gracePeriod)
      register.closeAll()
    }
    await register.emptied.wait()
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

  /// Opens the sockets of the configuration.
  private func openSockets(_ bootstrap: ServerBootstrap) async throws(ServiceError) -> [any Channel] {
    var listeners: [any Channel] = []
    if configuration.socket != nil || configuration.port == nil {
      let path = try configuration.socketPath()
      let socket = try UnixSocket(path: path)
      state.withLock { $0.unixSocket = socket }
      let bound = bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true)
      listeners.append(try await Self.listener("`\(path)`", bound))
      guard chmod(path, 0o600) == 0 else {
        throw ServiceError("cannot listen on `\(path)`: \(FileError.words(for: errno))")
      }
    }
    if let port = configuration.port {
      let bound = bootstrap.bind(host: "127.0.0.1", port: port)
      listeners.append(try await Self.listener("port \(port) of 127.0.0.1", bound))
    }
    return listeners
  }

  private static func listener(
    _ name: String,
    _ bound: EventLoopFuture<any Channel>
  ) async throws(ServiceError) -> any Channel {
    do {
      return try await bound.get()
    } catch {
      let reason = (error as? IOError).map { FileError.words(for: $0.errnoCode) }
      throw ServiceError("cannot listen on \(name): \(reason ?? "\(error)")")
    }
  }

  /// Makes listeners that accept no client until they read.
  private func bootstrap(_ token: AccessToken?) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.autoRead, value: false)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { [routes, limits, register, requests] channel in
        guard register.admit(channel) else { return channel.close() }
        return AccessRule.rule(of: channel, token: token).flatMapThrowing { access in
          // The default buffer is just smaller than a large image. TCP adapts its buffers by itself.
          if channel.localAddress?.port == nil {
            let size = SocketOptionValue(ConnectionLimits.unixSendBuffer)
            try channel.syncOptions?.setOption(.socketOption(.so_sndbuf), value: size)
          }
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
}

extension SocketAddress {
  /// The path of a Unix socket, or the URL of a port.
  fileprivate var text: String {
    guard let host = ipAddress, let port else { return pathname ?? "" }
    return "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// Whether only processes of this machine can reach the socket.
  fileprivate var isLocal: Bool { ipAddress.map { ["127.0.0.1", "::1"].contains($0) } ?? true }
}

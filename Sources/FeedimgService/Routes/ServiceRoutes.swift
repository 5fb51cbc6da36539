import Feedimg
import FeedimgAdmin
import FeedimgModel

/// Makes the routes of the service.
struct ServiceRoutes {
  let configuration: ImageLoader.Configuration
  let parts: LoaderParts
  let loader: ImageLoader
  let hub: EventHub
  let register: ConnectionRegister
  let upgrades: UpgradePublisher
  let prefetches: PrefetchRegistry
  /// The limit of open descriptors of the process.
  let descriptors: Int
  /// The header fields that clients may send to the server of an image, in lower case.
  let forwarded: [String]
  /// The feed of the page.
  let items: ItemsRoute
  /// The gateway; nil for none.
  let gateway: GatewayOption?

  /// All routes.
  ///
  /// - Throws: ``ConfigurationError`` where the folders are unknown.
  func table() throws(ConfigurationError) -> RouteTable {
    let (metrics, loads) = (ServiceMetrics(), LoadRegistry())
    let cache = ImageCache(configuration, sharing: parts)
    let network = NetworkRoute(network: NetworkStatus(sharing: parts), overrides: configuration.overrides)
    let settings = SettingsRoute(settings: Settings(sharing: parts))
    let usage = UsageRoute(usage: try Usage(configuration, sharing: parts))
    let cacheRoute = CacheRoute(cache: cache)
    let resolve = ResolveRoute(loader: loader)
    let prefetch = PrefetchRoute(loader: loader, prefetches: prefetches)
    let priority = PriorityRoute(loads: loads)
    let image = ImageRoute(
      loader: loader,
      upgrades: upgrades,
      metrics: metrics,
      folder: cache.folder,
      sealing: Sealing(descriptors: descriptors),
      pixels: PixelsProgram(environment: configuration.environment),
      loads: loads,
      forwarded: Set(forwarded)
    )
    let policies = PolicyRoute(policies: try Policies(configuration), given: configuration.policy.name)
    let fetch = FetchRoute(cache: ResponseCache(loader, configuration), metrics: metrics)
    let settingsPath = Settings(sharing: parts).path
    let gatewayRoute = gateway.map {
      GatewayRoute(
        option: $0,
        tokenFile: AccessToken.file("gateway-token", beside: settingsPath),
        forwarding: GatewayForwarding(loader: loader),
        image: image,
        fetch: fetch
      )
    }
    let events = EventsRoute(hub: hub)
    let metricsRoute = MetricsRoute(
      metrics: metrics,
      cache: cache,
      loader: loader,
      hub: hub,
      register: register
    )
    let routes: [RouteTable.Route] = [
      ("/v1/resolve", [("POST", { r throws(Problem) in try resolve.response(to: r) })]),
      (
        "/v1/image",
        [
          ("GET", { r async throws(Problem) in try await image.response(to: r) }),
          ("POST", { r async throws(Problem) in try await image.response(to: r) }),
        ]
      ),
      ("/v1/priority", [("POST", { r throws(Problem) in try priority.response(to: r) })]),
      ("/v1/prefetch", [("POST", { r throws(Problem) in try prefetch.start(r) })]),
      ("/v1/prefetch/{id}", [("DELETE", { r throws(Problem) in try prefetch.stop(r) })]),
      ("/v1/fetch", [("GET", { r async throws(Problem) in try await fetch.response(to: r) })]),
      ("/v1/network", [("GET", { r throws(Problem) in try network.response(to: r) })]),
      (
        "/v1/settings",
        [
          ("GET", { r in settings.read(r) }), ("PATCH", { r throws(Problem) in try settings.change(r) }),
        ]
      ),
      ("/v1/cache", [("GET", { r throws(Problem) in try cacheRoute.response(to: r) })]),
      (
        "/v1/cache/pins",
        [
          ("POST", { r throws(Problem) in try cacheRoute.pin(r) }),
          ("DELETE", { r throws(Problem) in try cacheRoute.unpin(r) }),
        ]
      ),
      ("/v1/usage", [("GET", { r throws(Problem) in try usage.response(to: r) })]),
      ("/v1/policies", [("GET", { r in policies.list(r) })]),
      ("/v1/policy", [("GET", { r throws(Problem) in try policies.rules(r) })]),
      ("/v1/items", [("GET", { r throws(Problem) in try items.response(to: r) })]),
      ("/v1/events", [("GET", { r in events.response(to: r) })]),
      ("/metrics", [("GET", { r in metricsRoute.response(to: r) })]),
      ("/healthz", [("GET", { _ in ServiceResponse(text: "ok\n", as: "text/plain; charset=utf-8") })]),
      ("/openapi.json", [("GET", { _ in Self.description })]),
    ]
    let immediate: [String: RouteTable.ImmediateHandler] = [
      "/v1/image": { image.memoryHit($0) }, "/v1/fetch": { fetch.memoryHit($0) },
    ]
    return RouteTable(
      routes + PageRoute.routes,
      immediate: immediate,
      gateway: gatewayRoute,
      metrics: metrics
    )
  }

  private static let description = ServiceResponse(
    fields: [("Content-Type", "application/json"), ("Cache-Control", "no-cache")],
    body: .bytes(PackageResources.openapi_json[...])
  )
}

extension ImageLoader.Configuration.Policy {
  /// The name or the file of the given policy; nil for the default.
  fileprivate var name: String? { if case .named(let name) = self { name } else { nil } }
}

import Feedimg
import FeedimgAdmin
import FeedimgModel
import FeedimgSystem

/// Makes the routes of the service.
struct ServiceRoutes {
  let configuration: ServiceConfiguration
  let parts: LoaderParts
  let loader: ImageLoader
  let hub: EventHub
  let register: ConnectionRegister
  let upgrades: UpgradePublisher
  let prefetches: PrefetchRegistry

  /// All routes.
  ///
  /// - Throws: ``ConfigurationError`` where the folders are unknown.
  func table() throws(ConfigurationError) -> RouteTable {
    let (metrics, loads, settings) = (ServiceMetrics(), LoadRegistry(), Settings(sharing: parts))
    let cache = ImageCache(configuration.loader, sharing: parts)
    let image = ImageRoute(
      loader: loader,
      upgrades: upgrades,
      metrics: metrics,
      folder: cache.folder,
      sealing: Sealing(descriptors: DescriptorLimit.raise()),
      pixels: PixelsProgram(environment: configuration.loader.environment),
      loads: loads,
      forwarded: Set(configuration.forwardedHeaders)
    )
    let fetch = FetchRoute(cache: ResponseCache(loader, configuration.loader), metrics: metrics)
    let gateway = configuration.gateway.map {
      GatewayRoute(
        option: $0,
        tokenFile: "\(FilePath(settings.path).folder)/gateway-token",
        forwarding: GatewayForwarding(loader: loader),
        image: image,
        fetch: fetch
      )
    }
    let prefetch = PrefetchRoute(loader: loader, prefetches: prefetches)
    let network = NetworkRoute(
      network: NetworkStatus(sharing: parts),
      overrides: configuration.loader.overrides
    )
    let settingsRoute = SettingsRoute(settings: settings)
    let cacheRoute = CacheRoute(cache: cache)
    let policies = PolicyRoute(
      policies: try Policies(configuration.loader),
      given: configuration.loader.policy.name
    )
    let usage = UsageRoute(usage: try Usage(configuration.loader, sharing: parts))
    let counts = MetricsRoute(metrics: metrics, cache: cache, loader: loader, hub: hub, register: register)
    let routes: [RouteTable.Route] = [
      ("POST", "/v1/resolve", ResolveRoute(loader: loader).response),
      ("GET", "/v1/image", image.response),
      ("POST", "/v1/image", image.response),
      ("POST", "/v1/priority", loads.changePriority),
      ("POST", "/v1/prefetch", prefetch.start),
      ("DELETE", "/v1/prefetch/{id}", prefetch.stop),
      ("GET", "/v1/fetch", fetch.response),
      ("GET", "/v1/network", network.response),
      ("GET", "/v1/settings", settingsRoute.read),
      ("PATCH", "/v1/settings", settingsRoute.change),
      ("GET", "/v1/cache", cacheRoute.response),
      ("POST", "/v1/cache/pins", cacheRoute.pin),
      ("DELETE", "/v1/cache/pins", cacheRoute.unpin),
      ("GET", "/v1/usage", usage.response),
      ("GET", "/v1/policies", policies.list),
      ("GET", "/v1/policy", policies.rules),
      ("GET", "/v1/items", ItemsRoute(configuration: configuration).response),
      ("GET", "/v1/events", hub.response),
      ("GET", "/metrics", counts.response),
      ("GET", "/healthz", { _ in ServiceResponse(text: "ok\n", as: "text/plain; charset=utf-8") }),
      ("GET", "/openapi.json", { _ in Self.description }),
    ]
    return RouteTable(
      routes + PageRoute.routes,
      immediate: ["/v1/image": image.memoryHit, "/v1/fetch": fetch.memoryHit],
      gateway: gateway,
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

import Feedimg
import FeedimgAdmin
import FeedimgModel
import FeedimgSystem

extension RouteTable {
  /// The routes of the service.
  init(
    _ configuration: ServiceConfiguration,
    parts: LoaderParts,
    loader: ImageLoader,
    sources: EventSources,
    register: ConnectionRegister,
    prefetches: PrefetchRegistry
  ) throws(ConfigurationError) {
    let (metrics, loads, settings) = (ServiceMetrics(), LoadRegistry(), Settings(sharing: parts))
    let (network, overrides) = (NetworkStatus(sharing: parts), configuration.loader.overrides)
    let cache = ImageCache(configuration.loader, sharing: parts)
    let usage = try Usage(configuration.loader, sharing: parts)
    let policies = try Policies(configuration.loader)
    let activePolicy = configuration.loader.policy.name ?? "default"
    let image = ImageRoute(
      loader: loader,
      facts: LoopFacts(of: loader),
      upgrades: sources.upgrades,
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
    let routes: [Route] = [
      ("POST", "/v1/resolve", loader.resolve),
      ("GET", "/v1/image", image.response),
      ("POST", "/v1/image", image.response),
      ("POST", "/v1/priority", loads.changePriority),
      ("POST", "/v1/prefetch", prefetches.start),
      ("DELETE", "/v1/prefetch/{id}", prefetches.stop),
      ("GET", "/v1/fetch", fetch.response),
      ("GET", "/v1/network", { _ throws(Problem) in try network.response(overrides) }),
      ("GET", "/v1/settings", settings.read),
      ("PATCH", "/v1/settings", settings.change),
      ("GET", "/v1/cache", cache.response),
      ("POST", "/v1/cache/pins", cache.changePin),
      ("DELETE", "/v1/cache/pins", cache.changePin),
      ("GET", "/v1/usage", usage.response),
      ("GET", "/v1/policies", policies.list),
      ("GET", "/v1/policy", { request throws(Problem) in try policies.rules(request, active: activePolicy) }),
      ("GET", "/v1/items", configuration.itemsResponse),
      ("GET", "/v1/events", sources.response),
      ("GET", "/metrics", { _ in metrics.response(loader, cache, sources.hub, register) }),
      ("GET", "/healthz", { _ in ServiceResponse(text: "ok\n", as: "text/plain; charset=utf-8") }),
      ("GET", "/openapi.json", { _ in Self.description }),
    ]
    self.init(
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

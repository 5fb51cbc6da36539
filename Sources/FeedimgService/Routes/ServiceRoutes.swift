import Feedimg
import FeedimgAdmin
import FeedimgModel

/// Puts the routes together.
struct ServiceRoutes {
  let configuration: ImageLoader.Configuration
  let loader: ImageLoader
  let metrics: ServiceMetrics
  let hub: EventHub
  let register: ConnectionRegister
  let upgrades: UpgradeWatch
  /// How many files and sockets the process may have open.
  let descriptors: Int
  /// A file with the feed of the page; nil for none.
  let items: String?

  /// All that the service answers, by path and method.
  ///
  /// - Throws: ``ConfigurationError`` where the folders are not known.
  func table() throws(ConfigurationError) -> RouteTable {
    let (cache, settings) = (try ImageCache(configuration), try Settings(configuration))
    let network = NetworkRoute(network: NetworkStatus(configuration), overrides: configuration.overrides)
    let settingsRoute = SettingsRoute(settings: settings)
    let usage = UsageRoute(usage: try Usage(configuration))
    let cacheRoute = CacheRoute(cache: cache)
    let loaders = OverrideLoaders(loader)
    let resolve = ResolveRoute(loaders: loaders)
    let loads = NamedLoads()
    let priority = PriorityRoute(loads: loads)
    let image = ImageRoute(
      loaders: loaders,
      upgrades: upgrades,
      metrics: metrics,
      folder: cache.folder,
      sealing: Sealing(descriptors: descriptors),
      loads: loads
    )
    let policies = PolicyRoute(policies: try Policies(configuration), given: configuration.policy.name)
    let items = ItemsRoute(file: items)
    let fetch = FetchRoute(cache: try AnswerCache(loader, configuration), metrics: metrics)
    let events = EventsRoute(hub: hub)
    let metricsRoute = MetricsRoute(
      metrics: metrics,
      cache: cache,
      connections: { [register] in register.count },
      readers: { [hub] in hub.readerCount },
      arriving: { [register] in (register.arriving.readerCount, register.arriving.heldCount) },
      copies: { [loader] in (loader.copies.count, loader.copies.size.bytes) }
    )
    let routes: [RouteTable.Route] = [
      ("/v1/resolve", [("POST", { r throws(Problem) in try resolve.answer(r) })]),
      (
        "/v1/image",
        [
          ("GET", { r async throws(Problem) in try await image.answer(r) }),
          ("POST", { r async throws(Problem) in try await image.answer(r) }),
        ]
      ),
      ("/v1/priority", [("POST", { r throws(Problem) in try priority.answer(r) })]),
      ("/v1/fetch", [("GET", { r async throws(Problem) in try await fetch.answer(r) })]),
      ("/v1/network", [("GET", { r throws(Problem) in try network.answer(r) })]),
      (
        "/v1/settings",
        [
          ("GET", { r in settingsRoute.read(r) }),
          ("PATCH", { r throws(Problem) in try settingsRoute.change(r) }),
        ]
      ),
      ("/v1/cache", [("GET", { r throws(Problem) in try cacheRoute.answer(r) })]),
      ("/v1/usage", [("GET", { r throws(Problem) in try usage.answer(r) })]),
      ("/v1/policies", [("GET", { r in policies.list(r) })]),
      ("/v1/policy", [("GET", { r throws(Problem) in try policies.rules(r) })]),
      ("/v1/items", [("GET", { r throws(Problem) in try items.answer(r) })]),
      ("/v1/events", [("GET", { r in events.answer(r) })]),
      ("/metrics", [("GET", { r in metricsRoute.answer(r) })]),
      ("/healthz", [("GET", { _ in ServiceAnswer(text: "ok\n", as: "text/plain; charset=utf-8") })]),
      ("/openapi.json", [("GET", { _ in Self.description })]),
    ]
    let shortcuts: [String: RouteTable.Shortcut] = [
      "/v1/image": { image.atHand($0) }, "/v1/fetch": { fetch.atHand($0) },
    ]
    return RouteTable(routes + PageRoute.routes, shortcuts: shortcuts, metrics: metrics)
  }

  private static let description = ServiceAnswer(
    fields: [("Content-Type", "application/json"), ("Cache-Control", "no-cache")],
    body: .bytes(PackageResources.openapi_json[...])
  )
}

extension ImageLoader.Configuration.Policy {
  /// The name or the file that was asked for; nil where none was.
  fileprivate var name: String? { if case .named(let name) = self { name } else { nil } }
}

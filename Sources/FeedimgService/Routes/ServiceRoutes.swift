import Feedimg
import FeedimgModel

/// Puts the routes together.
struct ServiceRoutes {
  let configuration: ImageLoader.Configuration
  let loader: ImageLoader
  let metrics: ServiceMetrics
  let hub: EventHub
  let register: ConnectionRegister

  /// All that the service answers, by path and method.
  ///
  /// - Throws: ``ConfigurationError`` where the folders are not known.
  func table() throws(ConfigurationError) -> RouteTable {
    let (cache, settings) = (try ImageCache(configuration), try Settings(configuration))
    let network = NetworkRoute(network: NetworkStatus(configuration), overrides: configuration.overrides)
    let settingsRoute = SettingsRoute(settings: settings)
    let usage = UsageRoute(usage: try Usage(configuration))
    let cacheRoute = CacheRoute(cache: cache)
    let (resolve, image) = (ResolveRoute(loader: loader), ImageRoute(loader: loader, metrics: metrics))
    let fetch = FetchRoute(cache: try AnswerCache(loader, configuration), metrics: metrics)
    let events = EventsRoute(hub: hub)
    let metricsRoute = MetricsRoute(
      metrics: metrics,
      cache: cache,
      connections: { [register] in register.count },
      readers: { [hub] in hub.readerCount }
    )
    return RouteTable(
      [
        ("/v1/resolve", [("POST", { r throws(Problem) in try resolve.answer(r) })]),
        (
          "/v1/image",
          [
            ("GET", { r async throws(Problem) in try await image.answer(r) }),
            ("POST", { r async throws(Problem) in try await image.answer(r) }),
          ]
        ),
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
        ("/v1/events", [("GET", { r in events.answer(r) })]),
        ("/metrics", [("GET", { r in metricsRoute.answer(r) })]),
        ("/healthz", [("GET", { _ in ServiceAnswer(text: "ok\n", as: "text/plain; charset=utf-8") })]),
        ("/openapi.json", [("GET", { _ in Self.description })]),
      ],
      metrics: metrics
    )
  }

  private static let description = ServiceAnswer(
    fields: [("Content-Type", "application/json"), ("Cache-Control", "no-cache")],
    body: .bytes(PackageResources.openapi_json[...])
  )
}

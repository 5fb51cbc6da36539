import Feedimg
import FeedimgAdmin
import FeedimgJSON
import FeedimgModel
import FeedimgSystem

extension RouteTable {
  /// The routes of the service.
  init(
    _ configuration: ServiceConfiguration,
    parts: LoaderParts,
    loader: ImageLoader,
    publishers: EventPublishers,
    connectionCount: @escaping @Sendable () -> Int,
    prefetches: PrefetchRegistry
  ) throws(ConfigurationError) {
    let (metrics, loads, settings) = (ServiceMetrics(), LoadRegistry(), Settings(sharing: parts))
    let (network, overrides) = (NetworkStatus(sharing: parts), configuration.loader.overrides)
    let cache = ImageCache(configuration.loader, sharing: parts)
    let usage = try Usage(configuration.loader, sharing: parts)
    let policies = Policies(configuration.loader, sharing: parts)
    let image = ImageRoute(
      loader: loader,
      facts: LoopFacts(of: loader),
      upgrades: publishers.upgrades,
      metrics: metrics,
      folder: cache.folder,
      pixels: PixelsProgram(environment: configuration.loader.environment),
      loads: loads,
      forwarded: Set(configuration.forwardedHeaders)
    )
    let fetch = FetchRoute(cache: ResponseCache(loader, configuration.loader), metrics: metrics)
    let gateway = configuration.gateway.map {
      GatewayRoute(
        option: $0,
        tokenFile: GatewayStatus.tokenPath(in: FilePath(settings.path).folder),
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
      ("GET", "/v1/network", { _ in network.response(simulating: overrides) }),
      ("GET", "/v1/settings", settings.read),
      ("PATCH", "/v1/settings", settings.change),
      ("GET", "/v1/cache", cache.response),
      ("POST", "/v1/cache/pins", cache.changePin),
      ("DELETE", "/v1/cache/pins", cache.changePin),
      ("GET", "/v1/usage", usage.response),
      ("GET", "/v1/policies", policies.list),
      ("GET", "/v1/policy", { request throws(Problem) in try policies.rules(request, of: loader) }),
      ("GET", "/v1/items", configuration.itemsResponse),
      ("GET", "/v1/events", publishers.response),
      ("GET", "/metrics", { _ in metrics.response(cache, publishers.hub, connectionCount()) }),
      ("GET", "/healthz", { _ in Self.health }),
      ("GET", "/openapi.json", { _ in Self.description }),
    ]
    self.init(
      routes + PageRoute.routes,
      // A client asks for the health to learn whether the service responds, whatever its routes wait for.
      immediate: [
        "/v1/image": image.memoryHit, "/v1/fetch": fetch.memoryHit, "/healthz": { _ in Self.health },
      ],
      gateway: gateway,
      metrics: metrics
    )
  }

  private static let health = ServiceResponse(text: "ok\n", as: "text/plain; charset=utf-8")

  private static let description = ServiceResponse(
    fields: [("Content-Type", "application/json"), ("Cache-Control", "no-cache")],
    body: .bytes(PackageResources.openapi_json[...])
  )
}

extension ImageLoader {
  /// `POST /v1/resolve`: one resolution for each item, in the form of the request; fetches nothing.
  func resolve(_ request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let (items, form) = try request.items()
    let resolutions = try request.target.loader(from: self).resolve(items).map(\.json)
    switch form {
    case .single: return ServiceResponse(json: resolutions.joined() + "\n")
    case .array: return ServiceResponse(json: "[\(resolutions.joined(separator: ","))]\n")
    case .lines:
      return ServiceResponse(text: resolutions.joined(separator: "\n") + "\n", as: "application/x-ndjson")
    }
  }
}

extension NetworkStatus {
  /// `GET /v1/network`: the current state.
  func response(simulating overrides: [SituationOverride]) -> ServiceResponse {
    ServiceResponse(json: state.json(simulating: overrides) + "\n")
  }
}

extension NetworkState {
  /// The state as `feedimg network --json` prints it, with the overrides, if any, as `simulated`.
  func json(simulating overrides: [SituationOverride]) -> String {
    guard !overrides.isEmpty else { return json }
    let simulated = JSONObject(overrides.map { ($0.fact, .string($0.value)) })
    return jsonValue.adding(["simulated": .object(simulated)]).text(.compact)
  }
}

extension Usage {
  /// `GET /v1/usage`: the report of the last `days=`, as `feedimg usage --json` prints it.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let days = try request.target.number("days", in: 1...3660) ?? 30
    return try Problem.reporting { () throws(ConfigurationError) in
      ServiceResponse(json: try report(days: days).json + "\n")
    }
  }
}

extension Policies {
  /// `GET /v1/policies`: all policies, each as `feedimg policy list --json` prints it.
  func list(_ request: ServiceRequest) -> ServiceResponse {
    ServiceResponse(json: "[\(list().map(\.json).joined(separator: ","))]\n")
  }

  /// `GET /v1/policy`: `name=` or the policy in force, in the form of `feedimg policy export --json`.
  func rules(_ request: ServiceRequest, of loader: ImageLoader) throws(Problem) -> ServiceResponse {
    guard let name = request.target["name"] else { return ServiceResponse(json: loader.policyJSON + "\n") }
    try Problem.reporting(404) { () throws(ConfigurationError) in try checkName(name) }
    do throws(PolicyFileError) {
      return ServiceResponse(json: try export(name).json + "\n")
    } catch {
      throw Problem(500, error.messages.joined(separator: "; "))
    }
  }
}

extension ImageCache {
  /// `GET /v1/cache`: the summary as `feedimg cache info --json` prints it, and the images used last.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let count = try request.target.number("images", in: 0...1000)
    return try Problem.reporting { () throws(ConfigurationError) in
      var text = try summary().json
      if let count {
        var images: [String] = []
        try forEachImage(limit: count) { image in
          images.append(image.json)
          return true
        }
        text = "\(text.dropLast()),\"images\":[\(images.joined(separator: ","))]}"
      }
      return ServiceResponse(json: text + "\n")
    }
  }

  /// `POST` and `DELETE /v1/cache/pins`: pins and unpins the image of `url=`.
  func changePin(_ request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let url = try request.target.url
    // Mostly, the image exceeds a limit or the disk is full (RFC 4918 §11.5).
    let isCached = try Problem.reporting(507) { () throws(ConfigurationError) in
      request.method == "POST" ? try pin(url) : try unpin(url)
    }
    guard isCached else { throw Problem(404, "`\(url)` is not in the cache", code: "not-cached") }
    return ServiceResponse(204)
  }
}

extension RequestTarget {
  /// The value of a numeric parameter; nil if it is absent.
  func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
    guard let text = self[name] else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    let limits = "from \(range.lowerBound) to \(range.upperBound)"
    throw Problem(400, "`\(name)` takes a number \(limits), not `\(text)`")
  }
}

import Feedimg
import FeedimgModel

/// The paths of the service with their handlers.
struct RouteTable: Sendable {
  /// Responds to a request, or throws the reason of its refusal.
  typealias Handler = @Sendable (ServiceRequest) async throws(Problem) -> ServiceResponse
  /// A handler for one method of a path; a handler of `GET` also responds to `HEAD`.
  typealias Route = (method: String, path: String, handler: Handler)
  /// Responds on the thread of the connection without waiting; nil where the handler must respond.
  typealias ImmediateHandler = @Sendable (ServiceRequest) -> ServiceResponse?

  /// The routes of each path.
  private let routes: [String: [Route]]
  /// The immediate handlers of `GET` and `HEAD`, by path.
  private let immediate: [String: ImmediateHandler]
  private let metrics: ServiceMetrics
  private let gateway: GatewayRoute?

  init(
    _ routes: [Route],
    immediate: [String: ImmediateHandler] = [:],
    gateway: GatewayRoute? = nil,
    metrics: ServiceMetrics
  ) {
    self.routes = Dictionary(grouping: routes) { $0.path }
    self.immediate = immediate
    self.metrics = metrics
    self.gateway = gateway
  }

  /// Whether the gateway responds to a path, rather than a route.
  func isGateway(_ path: String) -> Bool { routes[path] == nil && gateway?.takes(path) ?? false }

  /// The response to a request; a refusal is a problem document.
  func response(to request: ServiceRequest) async -> ServiceResponse {
    let response: ServiceResponse
    do throws(Problem) {
      response = try await handler(of: request)(request)
    } catch {
      response = error.response
    }
    count(response, to: request)
    return response
  }

  /// Whether there is an immediate handler; the route then mostly waits and computes little.
  ///
  /// A request with a body has none, because to read the items in it may take long.
  func hasImmediateHandler(_ request: ServiceRequest) -> Bool { immediateHandler(of: request) != nil }

  /// The response of an immediate handler; nil where there is none.
  func immediateResponse(to request: ServiceRequest) -> ServiceResponse? {
    guard let response = immediateHandler(of: request)?(request) else { return nil }
    count(response, to: request)
    return response
  }

  private func immediateHandler(of request: ServiceRequest) -> ImmediateHandler? {
    request.method == "GET" || request.method == "HEAD" ? immediate[request.target.path] : nil
  }

  /// The response to `OPTIONS *` (RFC 9110 §9.3.7).
  var options: ServiceResponse {
    let methods = Set(routes.values.joined().map(\.method)).union(["HEAD", "OPTIONS"])
    return ServiceResponse(204, fields: [("Allow", methods.sorted().joined(separator: ", "))])
  }

  private func count(_ response: ServiceResponse, to request: ServiceRequest) {
    // Only known paths, so that clients cannot make the list grow.
    let path = path(of: request)
    let route = routes[path] == nil ? "other" : path
    metrics.count(.requests(route: route, status: response.status))
  }

  /// The path as the table has it: `/v1/prefetch/{id}` for one that ends with the identifier of a prefetch.
  private func path(of request: ServiceRequest) -> String {
    let path = request.target.path
    guard routes[path] == nil, let slash = path.lastIndex(of: "/") else { return path }
    return path[...slash] + "{id}"
  }

  private func handler(of request: ServiceRequest) throws(Problem) -> Handler {
    if let gateway, isGateway(request.target.path) {
      return { request throws(Problem) in try await gateway.response(to: request) }
    }
    guard let methods = routes[path(of: request)] else {
      throw Problem(404, "no route `\(request.target.path)`; /openapi.json lists all paths")
    }
    let wanted = request.method == "HEAD" ? "GET" : request.method
    if let found = methods.first(where: { $0.method == wanted }) { return found.handler }
    let names = methods.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] } + ["OPTIONS"]
    let allow = ("Allow", names.joined(separator: ", "))
    if request.method == "OPTIONS" {
      let types =
        names.contains("PATCH") ? [("Accept-Patch", Settings.mediaTypes.joined(separator: ", "))] : []
      return { _ in ServiceResponse(204, fields: [allow] + types) }
    }
    throw Problem(
      405,
      "`\(request.target.path)` takes \(allow.1), not `\(request.method)`",
      fields: [allow]
    )
  }
}

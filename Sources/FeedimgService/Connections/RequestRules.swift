import FeedimgModel
import NIOHTTP1

/// The rules for the requests of one connection.
struct RequestRules {
  let routes: RouteTable
  let access: AccessRule
  let limits: ConnectionLimits

  /// The target of a request, and the longest body in bytes; throws the reason to refuse the request by its head.
  ///
  /// The rules use the path by which the routes respond. The target is nil for `OPTIONS *`, which has no path.
  func accept(
    _ head: HTTPRequestHead,
    _ fields: HTTPFields
  ) throws(Problem) -> (target: RequestTarget?, bodyLimit: Int) {
    // With two fields, two programs could each read another host (RFC 9112 §3.2).
    let hostCount = fields.fields.count { $0.isNamed("host") }
    if head.version == .http1_1, hostCount != 1 {
      throw Problem(400, "expected one field `Host`, found \(hostCount)")
    }
    if let host = fields["Host"], !HostField.isWellFormed(host) {
      throw Problem(400, "`\(host)` is not a host")
    }
    if let coding = fields["Transfer-Encoding"], coding.lowercased() != "chunked" {
      throw Problem(501, "the transfer coding `\(coding)` is not supported, only `chunked`")
    }
    if head.uri == "*", head.method == .OPTIONS {
      if let rejection = access.rejection(of: fields) { throw rejection }
      return (nil, limits.body)
    }
    guard let target = RequestTarget(head.uri) else {
      throw Problem(400, "the target of the request is not a path with a query in percent-encoded UTF-8")
    }
    let isGateway = routes.isGateway(target.path)
    var checked = fields
    // A reader shows the pictures of a feed in a page of another site. Their addresses are signed or have a token.
    if isGateway, GatewayRoute.isPicture(target.path) {
      checked.fields.removeAll { $0.isNamed("origin") || $0.isNamed("sec-fetch-site") }
    }
    let rejection = access.rejection(
      of: checked,
      isPublic: isGateway || PageRoute.isPublic(head.method.rawValue, target.path)
    )
    if let rejection { throw rejection }
    return (target, isGateway ? limits.gatewayBody : limits.body)
  }

  /// The request with its whole body, for the routes.
  func request(
    _ head: HTTPRequestHead,
    _ fields: HTTPFields,
    _ target: RequestTarget,
    body: [UInt8]
  ) -> ServiceRequest {
    // The other credentials in requests to a gateway are for the server behind it.
    let passesCredentials = routes.isGateway(target.path) && GatewayRoute.passesCredentials(target.path)
    return ServiceRequest(
      method: head.method.rawValue,
      target: target,
      fields: passesCredentials
        ? access.withoutToken(GatewayRoute.withoutSharedCookies(fields, target.path))
        : access.withoutCredentials(fields),
      body: body
    )
  }
}

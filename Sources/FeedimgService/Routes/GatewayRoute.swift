import Feedimg
import FeedimgModel
import FeedimgSystem

/// The gateway: pictures and feeds at `/g/…`, and the Mastodon API of a server at all paths that are not the service's.
struct GatewayRoute: Sendable {
  let option: GatewayOption
  let tokenFile: String
  let forwarding: GatewayForwarding
  let image: ImageRoute
  let fetch: FetchRoute

  /// Whether a path is one of the gateway; the paths of the service come first.
  func takes(_ path: String) -> Bool {
    guard !Self.isPicture(path) else { return true }
    return option.mastodon != nil && !path.hasPrefix("/v1/") && !path.hasPrefix("/page")
  }

  /// Whether a path is under `/g/`, where a token or a signature is part of the path.
  static func isPicture(_ path: String) -> Bool { path.hasPrefix("/g/") }

  /// Whether the credentials of a client are for the server behind the gateway, rather than for this service.
  static func passesCredentials(_ path: String) -> Bool { !isPicture(path) || FeedExchange.takes(path) }

  /// The fields without cookies that other programs of this machine may have set.
  ///
  /// A browser sends the cookies of an address to all its ports (RFC 6265 §8.5). Clients of the API use tokens,
  /// and a feed reader sends its own cookies.
  static func withoutSharedCookies(_ fields: HTTPFields, _ path: String) -> HTTPFields {
    let isBrowser = fields.fields.contains { $0.name.lowercased().hasPrefix("sec-fetch-") }
    guard isBrowser || !isPicture(path) else { return fields }
    return HTTPFields(fields.fields.filter { !$0.isNamed("cookie") })
  }

  func response(to request: ServiceRequest) async throws(Problem) -> ServiceResponse {
    let address = try address(for: request)
    if Self.isPicture(request.target.path) { return try await picture(request, address) }
    guard let origin = option.mastodon else { throw Problem(404, "no route `\(request.target.path)`") }
    // The browser of the user signs in at the server itself, so that no password passes through the gateway.
    if ["/oauth/authorize", "/oauth/authorize/"].contains(request.target.path), request.method == "GET" {
      let location = HTTPFields.Field.value(origin + request.target.text)
      return ServiceResponse(302, fields: [("Location", location), ("Cache-Control", "no-store")])
    }
    let exchange = MastodonExchange(request: request, origin: origin, address: address)
    if exchange.isWebSocket { return try await forwarding.webSocket(exchange) }
    return try await forwarding.response(to: request, exchange)
  }

  private func address(for request: ServiceRequest) throws(Problem) -> GatewayAddress {
    let token: AccessToken?
    do throws(FileError) {
      // Read each time, so that a new token revokes the old one at once.
      token = try AccessToken.read(tokenFile)
    } catch {
      throw Problem(503, "\(error)")
    }
    guard let token else {
      throw Problem(503, "`\(tokenFile)` has no valid token; `feedimg serve --gateway-token new` writes one")
    }
    return GatewayAddress(base: "http://\(request.fields["Host"] ?? "localhost")", token: token)
  }

  // MARK: Pictures

  private func picture(
    _ request: ServiceRequest,
    _ address: GatewayAddress
  ) async throws(Problem) -> ServiceResponse {
    let allow = ("Allow", "GET, HEAD, OPTIONS")
    if request.method == "OPTIONS" { return ServiceResponse(204, fields: [allow]) }
    guard request.method == "GET" || request.method == "HEAD" else {
      throw Problem(405, "expected GET, found `\(request.method)`", fields: [allow])
    }
    let path = request.target.path.dropFirst("/g/".count)
    if path.hasPrefix("s/") {
      guard let picture = address.picture(path.dropFirst("s/".count)) else {
        throw Problem(403, "the signature of the address is wrong, or the token was replaced")
      }
      return try await load(picture, request)
    }
    let slash = path.firstIndex(of: "/") ?? path.endIndex
    guard address.token.isEqual(to: path[..<slash]) else {
      throw Problem(403, "the token in the path is not the token of the gateway")
    }
    let rest = path[slash...].dropFirst()
    if rest == "fetch" {
      var response = try await fetch.response(to: request)
      response.fields = response.fields.withoutOriginState
      return response
    }
    if FeedExchange.takes(request.target.path) {
      return try await forwarding.response(to: request, try FeedExchange(request, address))
    }
    guard let bytes = Base64.decode(String(rest)), !bytes.isEmpty,
      let url = String(validating: bytes, as: UTF8.self)
    else { throw Problem(404, "expected `feed/URL`, `fetch?url=URL` or a URL in base64 after the token") }
    return try await load(.chosen(original: url, thumbnail: nil), request)
  }

  private func load(
    _ picture: GatewayPicture,
    _ request: ServiceRequest
  ) async throws(Problem) -> ServiceResponse {
    guard let (item, asksForOriginal) = picture.item, let target = RequestTarget("/v1/image") else {
      throw Problem(400, "the address has an invalid URL; expected http or https")
    }
    return try await image.response(
      to: ServiceRequest(
        method: request.method,
        target: target,
        fields: request.fields,
        item: item,
        asksForOriginal: asksForOriginal
      )
    )
  }
}

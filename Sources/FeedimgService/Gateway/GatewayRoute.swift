import Feedimg
import FeedimgModel

/// The gateway: pictures at `/g/…`, and the Mastodon API of a server at all paths that are not the service's.
struct GatewayRoute: Sendable {
  let option: GatewayOption
  let tokenFile: String
  let loader: ImageLoader
  let image: ImageRoute
  let fetch: FetchRoute

  /// The longest JSON document to change, in bytes; longer ones pass unchanged.
  private static let longestDocument = 8 << 20
  /// The longest response, in bytes; memory holds it until the client has taken it.
  private static let longestResponse = ByteCount.mebibytes(128)

  /// Whether a path is one of the gateway; the paths of the service come first.
  func takes(_ path: String) -> Bool {
    guard !Self.isPicture(path) else { return true }
    return option.mastodon != nil && !path.hasPrefix("/v1/") && !path.hasPrefix("/page")
  }

  /// Whether a path is under `/g/`, where a token or a signature is part of the path.
  static func isPicture(_ path: String) -> Bool { path.hasPrefix("/g/") }

  func response(to request: ServiceRequest) async throws(Problem) -> ServiceResponse {
    let address = try address(for: request)
    if Self.isPicture(request.target.path) { return try await picture(request, address) }
    guard let origin = option.mastodon else { throw Problem(404, "no route `\(request.target.path)`") }
    // The browser of the user signs in at the server itself, so that no password passes through the gateway.
    if request.target.path == "/oauth/authorize", request.method == "GET" {
      let location = HTTPFields.Field.value(origin + request.target.text)
      return ServiceResponse(302, fields: [("Location", location), ("Cache-Control", "no-store")])
    }
    return try await forwarded(request, to: origin, address)
  }

  private func address(for request: ServiceRequest) throws(Problem) -> GatewayAddress {
    do throws(ServiceError) {
      // Read each time, so that a new token revokes the old one at once.
      let token = try AccessToken(file: tokenFile)
      return GatewayAddress(base: "http://\(request.fields["Host"] ?? "localhost")", token: token)
    } catch {
      throw Problem(500, error.message)
    }
  }

  // MARK: Pictures

  private func picture(
    _ request: ServiceRequest,
    _ address: GatewayAddress
  ) async throws(Problem) -> ServiceResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      throw Problem(405, "expected GET, found `\(request.method)`", fields: [("Allow", "GET, HEAD")])
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
    if rest == "fetch" { return try await fetch.response(to: request) }
    guard let bytes = Base64.decode(String(rest)), !bytes.isEmpty,
      let url = String(validating: bytes, as: UTF8.self)
    else { throw Problem(404, "expected `fetch?url=URL` or a URL in base64 after the token") }
    return try await load(.chosen(original: url, thumbnail: nil), request)
  }

  private func load(
    _ picture: GatewayPicture,
    _ request: ServiceRequest
  ) async throws(Problem) -> ServiceResponse {
    guard let (item, asksForOriginal) = picture.item, let target = RequestTarget("/v1/image") else {
      throw Problem(400, "the address has an invalid URL; expected http or https")
    }
    var loading = ServiceRequest(request.method, target, fields: request.fields)
    (loading.item, loading.asksForOriginal) = (item, asksForOriginal)
    return try await image.response(to: loading)
  }

  // MARK: The API

  private func forwarded(
    _ request: ServiceRequest,
    to origin: String,
    _ address: GatewayAddress
  ) async throws(Problem) -> ServiceResponse {
    let fields = GatewayFields(origin: origin, base: address.base, mark: address.mark)
    let response: ForwardedResponse
    do throws(LoadError) {
      response = try await loader.forward(try download(request, origin, fields))
    } catch {
      throw error.problem
    }
    var result = ServiceResponse(response.head.status)
    result.fields = fields.forClient(response.head.fields)
    let isJSON = Self.isJSON(response.head)
    guard request.method != "HEAD", ![204, 304].contains(response.head.status) else {
      let knowsChanged = request.fields["If-None-Match"]?.contains("-\(address.mark)\"") ?? false
      if knowsChanged { result.fields = fields.marked(result.fields) }
      result.body = .absent(length: isJSON ? nil : response.head.contentLength)
      response.leave()
      return result
    }
    if isJSON, let bytes = try await document(of: response) {
      response.leave()
      result.ownsBody = true
      let rewriter = MastodonDocument(address: address.address(of:))
      if let changed = rewriter.rewritten(bytes) {
        result.fields = fields.forChanged(result.fields)
        result.body = .bytes(changed[...])
      } else {
        result.body = .bytes(bytes[...])
      }
      return result
    }
    result.body = .stream(
      BodyStream(response.body, length: response.head.contentLength, leave: response.leave)
    )
    return result
  }

  private func download(
    _ request: ServiceRequest,
    _ origin: String,
    _ fields: GatewayFields
  ) throws(LoadError) -> DownloadRequest {
    let url: ImageURL
    do throws(ImageURLError) {
      url = try ImageURL(origin + request.target.text)
    } catch {
      throw LoadError(.malformed, message: "the target of the request \(error)")
    }
    var download = DownloadRequest(
      url: url,
      fields: fields.forServer(request.fields),
      bodyLimit: Self.longestResponse,
      responseTimeout: .seconds(60),
      stallTimeout: .seconds(60)
    )
    let hasBody = !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method)
    download.method = .other(request.method, body: hasBody ? request.body : nil)
    download.followsRedirects = false
    if request.target.path.hasPrefix("/api/v1/streaming") {
      // Servers send a comment now and then in a stream of events, which may last for days.
      (download.stallTimeout, download.paceTimeout) = (.seconds(300), .seconds(1 << 30))
      download.responseTimeout = .seconds(300)
    }
    return download
  }

  /// The whole document; nil if it is too long to change.
  ///
  /// - Throws: ``Problem`` if it ends early, as no byte has been sent to the client then.
  private func document(of response: ForwardedResponse) async throws(Problem) -> [UInt8]? {
    guard response.head.contentLength ?? 0 <= Self.longestDocument else { return nil }
    var bytes: [UInt8] = []
    do throws(LoadError) {
      while let chunk = try await response.body.chunk(at: bytes.count) {
        bytes += chunk
        guard bytes.count <= Self.longestDocument else { return nil }
      }
      return bytes
    } catch {
      response.leave()
      throw error.problem
    }
  }

  /// Whether a response is a whole JSON document that this gateway can read.
  private static func isJSON(_ head: ResponseHead) -> Bool {
    guard head.status != 206, head.fields["Content-Encoding"] ?? "identity" == "identity" else {
      return false
    }
    let type = head.fields["Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased() ?? ""
    return type == "application/json" || type.hasSuffix("+json")
  }
}

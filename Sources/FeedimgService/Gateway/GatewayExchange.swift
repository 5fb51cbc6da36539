import FeedimgHTTPCache
import FeedimgModel

/// A request that a gateway forwards to another server, with the changes to its response.
protocol GatewayExchange {
  /// The request for the server, with the usual time limit for the first byte of the response.
  func download(within responseTimeout: Duration) throws(LoadError) -> DownloadRequest

  /// Whether the body may be a document to change; the gateway then reads all of it before it responds.
  func mayChange(_ head: ResponseHead) -> Bool

  /// The changed document of a response; nil to keep it.
  func changed(_ document: [UInt8], of head: ResponseHead) -> [UInt8]?

  /// The fields for the client, without the length of the body; `isChanged` is nil for a response without a body.
  func fields(for head: ResponseHead, isChanged: Bool?) -> HTTPFields

  /// Changes the lines of a stream of events; nil for all other bodies.
  func events(in head: ResponseHead) -> EventLines?
}

extension GatewayExchange {
  func events(in head: ResponseHead) -> EventLines? { nil }
}

extension DownloadRequest {
  /// A request of a gateway, with the limits of all gateways.
  init(_ request: ServiceRequest, to url: ImageURL, within responseTimeout: Duration) {
    self.init(
      url: url,
      fields: request.fields.forServer,
      // Memory holds the body until the client has taken it.
      bodyLimit: .mebibytes(128),
      responseTimeout: responseTimeout,
      stallTimeout: .seconds(60),
      // A server that sends a byte now and then holds no connection for longer.
      totalTimeout: .seconds(3600)
    )
    let hasBody = !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method)
    method = Method(name: request.method, body: hasBody ? request.body : nil)
    followsRedirects = false
    // A range counts the bytes of one coding.
    acceptsCodings = request.fields["Range"] == nil
  }
}

extension HTTPFields {
  /// The fields of a client for another server (RFC 9110 §7.6.1).
  var forServer: HTTPFields {
    // libcurl sets the host, the length and the content codings that it can decode.
    let own = ["host", "content-length", "expect", "accept-encoding", "origin", "referer"]
    var result = endToEnd(without: own)
    result.fields.append(Field(name: "Via", value: "1.1 feedimg"))
    return result
  }

  /// The fields of a server for the client.
  var forClient: HTTPFields {
    var result = endToEnd(without: ["content-length"]).withoutOriginState
    // For a browser, all responses have the origin of this service; the sandbox takes it from them.
    result.fields.append(Field(name: "Content-Security-Policy", value: "sandbox"))
    return result
  }

  /// The fields without those that change the state of a whole origin.
  ///
  /// For a browser, the responses of all servers have the origin of this service, and all ports share cookies.
  var withoutOriginState: HTTPFields {
    let names = ["set-cookie", "clear-site-data", "alt-svc", "strict-transport-security"]
    return HTTPFields(fields.filter { field in !names.contains { field.isNamed($0) } })
  }

  /// The fields of a document whose bytes were changed, which digests and ranges no longer match.
  var forChanged: HTTPFields {
    endToEnd(without: ["accept-ranges", "content-md5", "digest", "content-digest", "repr-digest"])
  }

  /// The fields without those of the connection, and without others, by their names in lower case.
  func endToEnd(without leftOut: [String]) -> HTTPFields {
    HTTPFields(storable.fields.filter { field in !leftOut.contains { field.isNamed($0) } })
  }
}

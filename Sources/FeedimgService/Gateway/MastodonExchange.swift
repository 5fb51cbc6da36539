import FeedimgModel

/// A request to the Mastodon API of a server.
struct MastodonExchange: GatewayExchange {
  let request: ServiceRequest
  /// The server, such as `https://mastodon.example`.
  let origin: String
  let address: GatewayAddress

  /// How the `User-Agent` of clients begins that load `url` for each picture of a status on the screen.
  ///
  /// Other clients load `preview_url`, and `url` when the user opens a picture (RFC 9110 §10.1.5 allows such a list).
  private static let clientsThatShowOriginals = ["toot/"]

  /// Whether the response may last for days, as a stream of events does.
  private var isEndless: Bool { request.target.path.hasPrefix("/api/v1/streaming") }

  /// Whether the client asks for a WebSocket with the events of the server (RFC 6455 §4.2.1).
  var isWebSocket: Bool { isEndless && request.fields["Upgrade"]?.lowercased() == "websocket" }

  /// The URL at the server.
  func url() throws(LoadError) -> ImageURL {
    do throws(ImageURLError) {
      return try ImageURL(origin + request.target.text)
    } catch {
      throw LoadError(.malformed, message: "the target of the request \(error)")
    }
  }

  func download(within responseTimeout: Duration) throws(LoadError) -> DownloadRequest {
    var download = DownloadRequest(request, to: try url(), within: responseTimeout)
    for index in download.fields.fields.indices where download.fields.fields[index].isNamed("if-none-match") {
      download.fields.fields[index].value.replace("-\(address.mark)\"", with: "\"")
    }
    if isEndless {
      // Servers send a comment now and then in a stream of events, which may last for days.
      download.stallTimeout = .seconds(300)
      download.responseTimeout = .seconds(300)
      download.totalTimeout = nil
      download.bodyLimit = ByteCount(.max)
      // A content coding could hold events back.
      download.acceptsCodings = false
    }
    return download
  }

  func mayChange(_ head: ResponseHead) -> Bool {
    let type = head.mediaType
    return head.isWhole && (type == "application/json" || type.hasSuffix("+json"))
  }

  func changed(_ document: [UInt8], of head: ResponseHead) -> [UInt8]? {
    self.document.rewritten(document)
  }

  func events(in head: ResponseHead) -> EventLines? {
    guard head.isWhole, head.mediaType == "text/event-stream" else { return nil }
    return EventLines { [document] in document.rewritten($0) }
  }

  private var document: MastodonDocument {
    let agent = request.fields["User-Agent"] ?? ""
    return MastodonDocument(
      showsOriginals: Self.clientsThatShowOriginals.contains { agent.hasPrefix($0) },
      // `http` becomes `ws`, and `https` becomes `wss`.
      streaming: ("ws" + origin.dropFirst(4), "ws" + address.base.dropFirst(4)),
      address: { [address] in address.address(of: $0) }
    )
  }

  /// The upgrade of the client's connection to a WebSocket over a connection to the server, which it owns.
  func webSocket(over descriptor: Int32) -> WebSocketUpgrade {
    var fields = request.fields.forServer
    // The gateway reads the messages, which no extension may compress.
    fields.fields.removeAll { $0.isNamed("sec-websocket-extensions") }
    let host = origin.drop { $0 != "/" }.dropFirst(2)
    fields.fields.insert(.init(name: "Host", value: String(host)), at: 0)
    fields.fields += [
      .init(name: "Connection", value: "Upgrade"), .init(name: "Upgrade", value: "websocket"),
    ]
    return WebSocketUpgrade(
      descriptor: descriptor,
      target: request.target.text,
      fields: fields,
      change: { [document] in document.rewrittenMessage($0) }
    )
  }

  /// URLs of the server in `Link` and `Location` lead back through the gateway.
  func fields(for head: ResponseHead, isChanged: Bool?) -> HTTPFields {
    var result = head.fields.forClient
    for index in result.fields.indices {
      let field = result.fields[index]
      if field.isNamed("link") {
        result.fields[index].value.replace("<\(origin)/", with: "<\(address.base)/")
      } else if field.isNamed("location"), field.value.hasPrefix("\(origin)/") {
        result.fields[index].value = address.base + field.value.dropFirst(origin.count)
      }
    }
    let knowsChanged = request.fields["If-None-Match"]?.contains("-\(address.mark)\"") ?? false
    guard isChanged ?? knowsChanged else { return result }
    if isChanged == true {
      result = result.forChanged
      result.fields.removeAll { $0.isNamed("last-modified") }
    }
    // The bytes differ with the address of the gateway and with its token.
    for index in result.fields.indices where result.fields[index].isNamed("etag") {
      guard result.fields[index].value.hasSuffix("\"") else { continue }
      result.fields[index].value = result.fields[index].value.dropLast() + "-\(address.mark)\""
    }
    return result
  }
}

extension ResponseHead {
  /// The media type of the body; empty if it is absent.
  var mediaType: String { fields.mediaType ?? "" }

  /// Whether the body is a whole document without a content coding.
  var isWhole: Bool { status != 206 && fields["Content-Encoding"] ?? "identity" == "identity" }
}

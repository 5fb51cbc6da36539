import FeedimgModel

/// A response of the service.
struct ServiceResponse: Sendable {
  /// The content of a response.
  enum Body: Sendable {
    case bytes(ArraySlice<UInt8>)
    /// No content, as for `HEAD` and 304; with the length that the content would have, if known.
    case absent(length: Int?)
    /// A body that is still being received.
    case stream(BodyStream)
    /// Events as they happen, until the client disconnects.
    case events(AsyncStream<String>)
    /// No HTTP: the connection becomes a WebSocket, if the server behind the gateway agrees.
    case webSocket(WebSocketUpgrade)
  }

  var status: Int
  var fields: HTTPFields
  var body: Body
  /// Whether the body was made for this response alone, so that it counts toward the limit for all bodies.
  var ownsBody = false

  init(_ status: Int = 200, fields: [(String, String)] = [], body: Body = .bytes([])) {
    self.status = status
    self.fields = HTTPFields(fields.map { HTTPFields.Field(name: $0.0, value: $0.1) })
    self.body = body
  }

  /// A text of a media type, which no cache may store.
  init(_ status: Int = 200, text: String, as mediaType: String) {
    self.init(
      status,
      fields: [("Content-Type", mediaType), ("Cache-Control", "no-store")],
      body: .bytes(Array(text.utf8)[...])
    )
  }

  /// One JSON value.
  init(json: String) { self.init(text: json, as: "application/json") }

  /// The length of the content in bytes; nil where only its end shows the length.
  var length: Int? {
    switch body {
    case .bytes(let bytes): bytes.count
    case .absent(let length): length
    case .stream(let stream): stream.length
    case .events, .webSocket: nil
    }
  }

  /// Whether the response lasts until the client or the service closes the connection.
  var isEndless: Bool { if case .events = body { true } else { false } }

  /// Leaves the load of a body that is not sent.
  func abandon() {
    switch body {
    case .stream(let stream): stream.leave()
    case .webSocket(let upgrade): upgrade.abandon()
    default: break
    }
  }
}

public import FeedimgModel
import Synchronization

/// Responds to every request of a test in this process, without a socket.
///
/// A URL without a response has status 404.
public final class ScriptedServer: Downloading {
  /// The response of a URL.
  public struct Response: Sendable, Hashable {
    /// The status, such as 200.
    public var status: Int
    /// The header fields.
    public var headers: [String: String]
    /// The body.
    public var body: [UInt8]
    /// The failure in place of a response.
    public var failure: LoadError.Code?

    /// - Parameters:
    ///   - status: The status, such as 200.
    ///   - headers: The header fields.
    ///   - body: The body.
    public init(status: Int = 200, headers: [String: String] = [:], body: [UInt8] = []) {
      (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// An image.
    ///
    /// - Parameters:
    ///   - bytes: The encoded image.
    ///   - headers: The header fields, such as `["Cache-Control": "max-age=60"]`.
    /// - Returns: A response with status 200.
    public static func image(_ bytes: [UInt8], headers: [String: String] = [:]) -> Response {
      Response(headers: headers, body: bytes)
    }

    /// An empty response with a status, such as 503.
    public static func status(_ status: Int) -> Response { Response(status: status) }

    /// A failure, such as `connection`.
    public static func failure(_ code: LoadError.Code) -> Response {
      var response = Response()
      response.failure = code
      return response
    }
  }

  /// A request that the server received.
  public struct Request: Sendable, Hashable {
    /// The URL.
    public var url: ImageURL
    /// The header fields that the loader added.
    public var headers: [String: String]
  }

  private struct State {
    var responses: [String: Response] = [:]
    var requests: [Request] = []
  }

  private let state = Mutex(State())

  init() {}

  /// The response of a URL; nil for status 404.
  public subscript(url: String) -> Response? {
    get { state.withLock { $0.responses[Self.key(url)] } }
    set { state.withLock { $0.responses[Self.key(url)] = newValue } }
  }

  /// The requests so far, in order.
  public var requests: [Request] { state.withLock { $0.requests } }

  package func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    let fields = request.fields.fields + request.boundFields.fields
    let headers = Dictionary(fields.map { ($0.name, $0.value) }) { $1 }
    let response = state.withLock { state in
      state.requests.append(Request(url: request.url, headers: headers))
      return state.responses[request.url.key] ?? .status(404)
    }
    guard !Task.isCancelled else { throw LoadError(.cancelled, url: request.url, message: "cancelled") }
    if let failure = response.failure {
      throw LoadError(failure, url: request.url, message: "the test says so")
    }
    let head = ResponseHead(
      status: response.status,
      fields: HTTPFields(response.headers.map { .init(name: $0.key, value: $0.value) }),
      url: request.url,
      contentLength: response.body.count
    )
    let tag = head.fields["ETag"]
    if let tag, request.fields["If-None-Match"] == tag {
      let unchanged = ResponseHead(status: 304, fields: head.fields, url: request.url)
      try receiver.begin(unchanged)
      return unchanged
    }
    try receiver.begin(head)
    let received = response.body.withUnsafeBytes { bytes in
      Result { () throws(LoadError) -> Void in try receiver.receive(bytes) }
    }
    try received.get()
    return head
  }

  private static func key(_ url: String) -> String { (try? ImageURL(url))?.key ?? url }
}

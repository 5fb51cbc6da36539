import FeedimgModel
import LoopbackServer
import Synchronization

/// Responds to every request.
///
/// A test can hold responses back and release them at any time.
final class HeldDownloader: Downloading {
  struct Response: Sendable {
    var status = 200
    var body = SampleImage.jpeg
    /// The header fields of an image that stays fresh for a minute.
    var fields = [("Content-Type", "image/jpeg"), ("ETag", "\"1\""), ("Cache-Control", "max-age=60")]
    /// Whether the transfer stalls after the body without ending.
    var isInterrupted = false
  }

  /// The requests, in order.
  let requests = RecordedValues<DownloadRequest>()
  private let holds: @Sendable (DownloadRequest) -> Bool
  private let response: @Sendable (DownloadRequest) -> Response
  private let isReleased = Atomic(false)
  private let count = Atomic(0)
  private let forgettings = Atomic(0)

  init(
    holding holds: @escaping @Sendable (DownloadRequest) -> Bool,
    responding response: @escaping @Sendable (DownloadRequest) -> Response = { _ in Response() }
  ) {
    (self.holds, self.response) = (holds, response)
  }

  /// The requested URLs.
  var asked: [String] { requests.all.map(\.url.text) }

  /// The number of requests without a response that were not cancelled.
  var running: Int { count.load(ordering: .acquiring) }

  /// How often connections were forgotten.
  var forgotten: Int { forgettings.load(ordering: .acquiring) }

  func forgetConnections() { forgettings.add(1, ordering: .releasing) }

  /// Releases the held responses and all later ones.
  func release() { isReleased.store(true, ordering: .releasing) }

  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    count.add(1, ordering: .relaxed)
    defer { count.subtract(1, ordering: .releasing) }
    requests.add(request)
    while holds(request), !isReleased.load(ordering: .acquiring), !Task.isCancelled { await Task.yield() }
    guard !Task.isCancelled else { throw LoadError(.cancelled, url: request.url, message: "cancelled") }
    let response = response(request)
    let fields = HTTPFields(response.fields.map { HTTPFields.Field(name: $0.0, value: $0.1) })
    let head = ResponseHead(status: response.status, fields: fields, url: request.url)
    try receiver.begin(head)
    try receiver.receive(response.body[...])
    if response.isInterrupted { throw LoadError(.truncated, url: request.url, message: "it broke off") }
    return head
  }
}

import FeedimgModel
import Synchronization

/// A transfer that delivers more bytes after it was told to stop.
final class LateDownloader: Downloading {
  /// The bytes of the first response to each prefetch, and when they come.
  struct Arrival: Sendable {
    /// The bytes that come with the head before the stop.
    ///
    /// Nil if not even the head comes.
    var before: Int?
    /// The total bytes at the end of the transfer.
    ///
    /// Nil if not even the head comes.
    var after: Int?
  }

  private struct State {
    var requests: [DownloadRequest] = []
    var held: [AsyncStream<Void>.Continuation] = []
    var begun = 0
    var stopped = 0
    var isReleased = false
  }

  let picture: [UInt8]
  /// The fields of each response, without its length.
  let fields: [(String, String)]
  let arrival: Arrival
  /// Guards the requests and the held transfers, which are released outside the lock.
  private let state = Mutex(State())

  init(_ picture: [UInt8], _ fields: [(String, String)], _ arrival: Arrival) {
    (self.picture, self.fields, self.arrival) = (picture, fields, arrival)
  }

  /// The requests for prefetches, whose paths begin with `/p`.
  var requests: [DownloadRequest] { state.withLock { $0.requests } }
  /// The number of first responses that reached the point of the stop.
  var begun: Int { state.withLock { $0.begun } }
  /// The number of stopped transfers.
  var stopped: Int { state.withLock { $0.stopped } }

  /// Lets all transfers complete that were not stopped.
  func release() {
    let held = state.withLock { state in
      state.isReleased = true
      return state.held
    }
    for continuation in held { continuation.finish() }
  }

  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    guard request.url.text.contains("/p") else { return try deliver(request, 0, picture.count, receiver) }
    let isFirst = state.withLock { state in
      defer { state.requests.append(request) }
      return !state.requests.contains { $0.url == request.url }
    }
    let start = request.fields["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
    guard isFirst else { return try deliver(request, start, picture.count, receiver) }
    if let before = arrival.before { _ = try deliver(request, 0, before, receiver) }
    await hold()
    let isStopped = Task.isCancelled
    if isStopped { state.withLock { $0.stopped += 1 } }
    if let end = isStopped ? arrival.after : picture.count {
      if arrival.before == nil { try receiver.begin(head(request, 0)) }
      try receiver.receive(picture[(arrival.before ?? 0)..<end])
    }
    guard !isStopped else { throw LoadError(.cancelled, url: request.url, message: "cancelled") }
    return head(request, 0)
  }

  private func hold() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let isReleased = state.withLock { state in
      state.begun += 1
      state.held.append(continuation)
      return state.isReleased
    }
    if isReleased { continuation.finish() }
    for await _ in stream {}
  }

  private func deliver(
    _ request: DownloadRequest,
    _ start: Int,
    _ end: Int,
    _ receiver: any BodyReceiving
  ) throws(LoadError) -> ResponseHead {
    let head = head(request, start)
    try receiver.begin(head)
    try receiver.receive(picture[start..<end])
    return head
  }

  private func head(_ request: DownloadRequest, _ start: Int) -> ResponseHead {
    var all = fields
    if start > 0 {
      all.append(("Content-Range", "bytes \(start)-\(picture.count - 1)/\(picture.count)"))
    }
    return ResponseHead(
      status: start > 0 ? 206 : 200,
      fields: HTTPFields(all.map { HTTPFields.Field(name: $0.0, value: $0.1) }),
      url: request.url,
      contentLength: picture.count - start
    )
  }
}

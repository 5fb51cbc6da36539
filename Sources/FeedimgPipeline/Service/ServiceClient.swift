import FeedimgHTTPCache
import FeedimgJSON
import FeedimgModel
package import FeedimgSystem
import Glibc
import Synchronization

/// Loads images through the user's service, which shares one cache between programs.
///
/// If the service is not running, uses another cache or refuses an image, the program loads the image itself.
package final class ServiceClient: Sendable {
  private struct State {
    var loaded = 0
    /// The reason why no requests go to the service until `end`, or ever if that is nil; nil while it is used.
    var obstacle: (reason: String, end: Duration?)?
    /// The reason why the service did not load the latest failed image; it may load others.
    var lastFailure: String?
    /// The number of times that the service was found to hang.
    var hangs = 0
    /// Whether the service responds to a check; nil before the first image after a pause.
    var silence: Promise<LoadError?>?
  }

  /// The time without bytes after which the service is asked whether it still responds.
  static let checkInterval = Duration.seconds(5)
  /// The time for which a service that does not work is not asked again; it may be restarting.
  static let pause = Duration.seconds(30)

  private let socket: String
  /// The cache folder of this program; a service with another folder is not used.
  private let cacheFolder: String
  private let downloader: any Downloading
  /// The longest wait for a response to a check; a service that takes longer counts as hung.
  private let probeTimeout: Duration
  private let time: MonotonicTime
  /// Guards the state; requests go out outside the lock.
  private let state = Mutex(State())

  package init(
    socket: String,
    cacheFolder: String,
    downloader: any Downloading,
    probeTimeout: Duration = .seconds(2),
    time: MonotonicTime = .system()
  ) {
    (self.socket, self.cacheFolder, self.downloader, self.time) = (socket, cacheFolder, downloader, time)
    self.probeTimeout = probeTimeout
  }

  /// A message about the use of the service so far; nil before its first use.
  var summary: String? {
    state.withLock { state in
      let reason = state.obstacle?.reason ?? state.lastFailure
      guard state.loaded > 0 else { return reason.map { "not loaded by the service at `\(socket)`: \($0)" } }
      let images = state.loaded == 1 ? "1 image" : "\(state.loaded) images"
      return "\(images) loaded by the service at `\(socket)`" + (reason.map { ", others not: \($0)" } ?? "")
    }
  }

  /// Loads an image through the service.
  ///
  /// With `waitsForStorage`, the response ends when the image is stored, so that the result has its file.
  ///
  /// - Returns: The image; nil if the program must load it itself.
  /// - Throws: The ``LoadError`` that the service reports.
  func load(
    _ variant: ImageVariant,
    _ settings: UserSettings,
    from store: any ImageStoring,
    on reads: ThreadExecutor,
    waitsForStorage: Bool = false,
    load inFlight: InFlightLoad
  ) async throws(LoadError) -> FetchedImage? {
    guard isUsable else { return nil }
    guard access(socket, F_OK) == 0 else {
      // It may start at any time, and this check takes a microsecond.
      note("it is not running")
      return nil
    }
    guard await isResponding() else { return nil }
    let hangs = hangs
    let priority = inFlight.priority
    // A random name distinguishes this load from those of all other clients.
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    guard var request = request(variant, settings, priority, name) else { return nil }
    if waitsForStorage { request.fields.fields.append(.init(name: "Feedimg-Wait", value: "stored")) }
    let updates = updatePriority(of: inFlight, name, after: priority)
    defer {
      inFlight.onPriority(nil)
      updates.cancel()
    }
    let receiver = ServiceReceiver(inFlight)
    inFlight.setScans(of: variant.url) { [weak receiver] in receiver?.scan() }
    defer { inFlight.setScans(of: variant.url, nil) }
    let head: ResponseHead
    do throws(LoadError) {
      head = try await perform(request, into: receiver, hangs)
    } catch {
      let isHung = self.hangs != hangs
      guard error.code != .cancelled || isHung && !Task.isCancelled else { throw error }
      // If the transfer of the image itself was interrupted, the next attempt reports that.
      if !isHung, receiver.head == nil { giveUp("it does not respond: \(error.message)") }
      // The bytes of a load by this program count for its own caller.
      inFlight.countsForOtherClient = false
      note("the response was interrupted: \(error.message)")
      return nil
    }
    guard head.status == 200 else { return try refused(head, receiver.bytes, variant) }
    state.withLock { $0.loaded += 1 }
    let kept = await reads.run { store.image(of: variant.url.key) }
    return FetchedImage(
      bytes: receiver.bytes,
      mediaType: head.fields["Content-Type"] ?? "application/octet-stream",
      path: kept?.path,
      source: Self.source(head.fields["Cache-Status"]),
      response: kept?.response,
      notes: [head.fields["Feedimg-Note"]].compactMap { $0 }
    )
  }

  private var isUsable: Bool {
    state.withLock { state in
      guard let end = state.obstacle?.end else { return state.obstacle == nil }
      guard time.now() >= end else { return false }
      state.obstacle = nil
      return true
    }
  }

  /// Checks before the first image whether the service responds, because requests for images have long timeouts.
  private func isResponding() async -> Bool {
    let new = Promise<LoadError?>()
    let silence = state.withLock { state in
      let silence = state.silence ?? new
      state.silence = silence
      return silence
    }
    if silence === new { Task { new.resolve(await probe()) } }
    guard let error = await silence.value() ?? nil else { return true }
    giveUp("it does not respond: \(error.message)")
    return false
  }

  /// Asks the service whether it responds.
  ///
  /// - Returns: The error if it did not; nil after any response.
  private func probe() async -> LoadError? {
    guard let url = try? ImageURL("http://localhost/healthz") else { return nil }
    do throws(LoadError) {
      _ = try await downloader.download(ownRequest(url), into: IgnoringReceiver())
      return nil
    } catch {
      return error
    }
  }

  /// A request that the service can handle at once, from its own state.
  private func ownRequest(_ url: ImageURL) -> DownloadRequest {
    var request = DownloadRequest(
      url: url,
      bodyLimit: ByteCount(1 << 16),
      connectTimeout: probeTimeout,
      responseTimeout: probeTimeout,
      stallTimeout: probeTimeout
    )
    request.socket = socket
    return request
  }

  private var hangs: Int { state.withLock { $0.hangs } }

  /// Sends the request for an image, and cancels it if the service hangs; `count` is the earlier ``hangs``.
  private func perform(
    _ request: DownloadRequest,
    into receiver: ServiceReceiver,
    _ count: Int
  ) async throws(LoadError) -> ResponseHead {
    let transfer = Task { [downloader] in
      await Result.of { () async throws(LoadError) in try await downloader.download(request, into: receiver) }
    }
    let check = Task { if await isHung(receiver, count) { transfer.cancel() } }
    defer { check.cancel() }
    return try await transfer.cancellableValue.get()
  }

  /// Waits until the service hangs, because requests for images have long timeouts.
  ///
  /// After each ``checkInterval`` without bytes, it asks the service whether it still responds. A service that
  /// refuses new connections still serves its present clients or closes their connections.
  ///
  /// - Returns: False if the task is cancelled first, or no thread is available for the wait.
  private func isHung(_ receiver: ServiceReceiver, _ count: Int) async -> Bool {
    while (try? await time.sleep(Self.checkInterval)) != nil {
      // Another load has found out, and all requests end.
      if hangs != count { return true }
      guard !receiver.takeHasReceived(), let silence = await probe(), silence.code == .timeout,
        !receiver.takeHasReceived()
      else { continue }
      state.withLock { $0.hangs += 1 }
      giveUp("it stopped responding: \(silence.message)")
      return true
    }
    return false
  }

  /// Tells the service when the priority of a requested image changes, until the returned task is cancelled.
  ///
  /// An HTTP/1.1 request cannot change its priority later (RFC 9218 §7 applies to later versions), so separate
  /// requests send the new priorities, one at a time.
  private func updatePriority(
    of load: InFlightLoad,
    _ name: String,
    after first: LoadPriority
  ) -> Task<Void, Never> {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    load.onPriority { continuation.yield() }
    // The priority may have changed before the listener was set.
    continuation.yield()
    return Task { [weak load] in
      var sent = first
      for await _ in changes {
        guard let priority = load?.priority else { return }
        guard priority != sent else { continue }
        sent = priority
        await send(priority, of: name)
      }
    }
  }

  /// The source of an image, read from the `Cache-Status` of the service (RFC 9211 §2).
  ///
  /// - Returns: The network only if this request caused a download; otherwise the disk, even after a
  ///   revalidation.
  static func source(_ cacheStatus: String?) -> LoadedImage.Source {
    isForwarded(cacheStatus) && !isCollapsed(cacheStatus) ? .network : .disk
  }

  /// Whether the image comes from a server.
  static func isForwarded(_ cacheStatus: String?) -> Bool {
    guard let cacheStatus else { return false }
    return cacheStatus.contains("fwd=") && !cacheStatus.contains("fwd-status=304")
  }

  /// Whether an earlier request of another client caused the download.
  static func isCollapsed(_ cacheStatus: String?) -> Bool { cacheStatus?.contains("collapsed") == true }

  private func request(
    _ variant: ImageVariant,
    _ settings: UserSettings,
    _ priority: LoadPriority,
    _ load: String
  ) -> DownloadRequest? {
    let name = variant.role == .original ? "originalImage" : "thumbnailImage"
    let item = JSONValue.object(JSONObject([(name, .string(variant.url.text))])).text(.compact)
    // A URL that is too long for a query is rare; the program then loads the image itself.
    guard let url = try? ImageURL("http://localhost/v1/image?item=\(Self.escaped(item))") else { return nil }
    var fields = Self.fields(of: load, priority)
    fields.fields.append(.init(name: "Feedimg-Cache", value: cacheFolder))
    var request = DownloadRequest(
      url: url,
      fields: fields,
      bodyLimit: settings.downloadLimit,
      connectTimeout: .seconds(2),
      // The service waits for a slot, the server and retries as long as this program would.
      responseTimeout: .seconds(600),
      stallTimeout: .seconds(600)
    )
    request.socket = socket
    return request
  }

  /// Sends the present priority of a load; an older service without this request keeps the first one.
  private func send(_ priority: LoadPriority, of load: String) async {
    guard let url = try? ImageURL("http://localhost/v1/priority") else { return }
    var request = ownRequest(url)
    (request.method, request.fields) = (.post, Self.fields(of: load, priority))
    // A busy service learns the priority late rather than never; the end of the load ends the wait.
    request.responseTimeout = .seconds(600)
    _ = try? await downloader.download(request, into: IgnoringReceiver())
  }

  /// The fields that name a load and its priority.
  private static func fields(of load: String, _ priority: LoadPriority) -> HTTPFields {
    let urgency = priority == .visible ? 1 : priority == .near ? 4 : 6
    return HTTPFields([
      .init(name: "Feedimg-Load", value: load), .init(name: "Priority", value: "u=\(urgency)"),
    ])
  }

  /// Throws the error of the server that the service reports; returns nil if the program must load the image.
  private func refused(
    _ head: ResponseHead,
    _ body: [UInt8],
    _ variant: ImageVariant
  ) throws(LoadError) -> FetchedImage? {
    guard case .object(let problem)? = try? JSONReader.value(in: body),
      let detail = problem["detail"]?.text
    else {
      giveUp("it responded with status \(head.status)")
      return nil
    }
    let name = problem["type"]?.text?.split(separator: ":").last ?? ""
    guard let code = LoadError.Code.allCases.first(where: { $0.kebab == name }), code.isOfServer else {
      // Other refusals depend on the service's policy or permissions; 421 means another cache folder, which
      // will not change.
      if head.status == 421 { giveUp(detail, for: nil) }
      note(detail)
      return nil
    }
    let prefix = "`\(variant.url)`: "
    var error = LoadError(
      code,
      url: variant.url,
      message: detail.hasPrefix(prefix) ? String(detail.dropFirst(prefix.count)) : detail,
      status: problem["originStatus"]?.integer,
      retryAfter: head.fields["Retry-After"].flatMap { Int($0) }
    )
    error.attribute(
      to: problem["origin"]?.text ?? variant.url.origin,
      problem["originCircuitOpen"] == true ? .openInService : .closed
    )
    throw error
  }

  /// Stops using the service for a time; forever if that is nil.
  private func giveUp(_ reason: String, for pause: Duration? = pause) {
    let end = pause.map { time.now() + $0 }
    state.withLock { ($0.obstacle, $0.silence) = ((reason, end), nil) }
  }

  private func note(_ lastFailure: String) { state.withLock { $0.lastFailure = lastFailure } }

  /// Escapes text for a value in a query (RFC 3986 §2.3).
  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.reduce(into: "") { result, byte in
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-._~".unicodeScalars.contains(scalar))
      result += isPlain ? String(Character(scalar)) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
  }
}

private struct IgnoringReceiver: BodyReceiving {
  func begin(_ head: ResponseHead) throws(LoadError) {}
  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {}
}

extension LoadError.Code {
  /// The code in kebab case, such as `nothing-to-show`.
  package var kebab: String {
    rawValue.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
  }
}

final class ServiceReceiver: BodyReceiving {
  private struct State {
    /// Whether the service downloads the image; a cached image reports no progress.
    var isFetched = false
    var head: ResponseHead?
    var bytes: [UInt8] = []
    var hasReceived = false
    var scans = ScanSelector()
  }

  private let load: InFlightLoad
  private let reporter = LoadEventReporter.present
  /// Guards the response; the transfer's thread extends it.
  private let state = Mutex(State())

  init(_ load: InFlightLoad) { self.load = load }

  var head: ResponseHead? { state.withLock { $0.head } }
  var bytes: [UInt8] { state.withLock { $0.bytes } }

  /// Returns whether a head or bytes have arrived since the last call.
  func takeHasReceived() -> Bool {
    state.withLock { state in
      defer { state.hasReceived = false }
      return state.hasReceived
    }
  }

  /// Returns the latest scan of the arriving image that is worth showing, if any.
  func scan() -> ScanSelector.Scan? {
    state.withLock { state in
      guard let head = state.head, head.status == 200 else { return nil }
      return state.scans.latest(in: state.bytes, of: head.contentLength)
    }
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    let cacheStatus = head.fields["Cache-Status"]
    let isFetched = head.status == 200 && ServiceClient.isForwarded(cacheStatus)
    state.withLock { ($0.head, $0.isFetched, $0.hasReceived) = (head, isFetched, true) }
    guard isFetched else { return }
    if ServiceClient.isCollapsed(cacheStatus) { load.countsForOtherClient = true }
    // A caller whose data limit is too low leaves before the first byte.
    try load.report(
      LoadProgress(received: ByteCount(0), total: head.contentLength.map { ByteCount($0) })
    )
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    let (head, count) = state.withLock { state in
      state.bytes.append(contentsOf: bytes)
      state.hasReceived = true
      return (state.isFetched ? state.head : nil, state.bytes.count)
    }
    guard let head else { return }
    let progress = LoadProgress(received: ByteCount(count), total: head.contentLength.map { ByteCount($0) })
    reporter?.report(.progress(progress))
    try load.report(progress)
  }
}

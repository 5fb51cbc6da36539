import FeedimgCache
import FeedimgJSON
import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization

/// The service of the user, which loads what several programs want, into a cache that they share.
///
/// Where it is not there, keeps another cache or will not load something, the program does so itself, and nobody
/// notices.
final class ServiceLink: Sendable {
  private struct State {
    /// How many images it has loaded.
    var loaded = 0
    /// Why it is not asked any more.
    var obstacle: String?
    /// Why it has not loaded an image last, though it may load others.
    var mishap: String?
  }

  private let socket: String
  /// Where this program keeps images; a service that keeps them elsewhere is of no use.
  private let cacheFolder: String
  private let downloader: any Downloading
  private let greeting: ServiceGreeting
  /// Why it does not answer at all, before it is left as much time as an image may take.
  private let silence: SharedResponse<LoadError?>
  private let vigil: ServiceVigil
  /// Guards what is known of the service; nothing is asked under it.
  private let state = Mutex(State())

  init(
    socket: String,
    cacheFolder: String,
    downloader: any Downloading,
    greetingTimeout: Duration = .seconds(2),
    time: MonotonicTime = .system()
  ) {
    (self.socket, self.cacheFolder, self.downloader) = (socket, cacheFolder, downloader)
    let greeting = ServiceGreeting(socket: socket, downloader: downloader, timeout: greetingTimeout)
    self.greeting = greeting
    silence = SharedResponse { await greeting.perform() }
    vigil = ServiceVigil(greeting, time)
  }

  /// What came of it up to now, in words; nil before it was needed.
  var account: String? {
    state.withLock { state in
      let reason = state.obstacle ?? state.mishap
      guard state.loaded > 0 else { return reason.map { "not loaded by the service at `\(socket)`: \($0)" } }
      let images = state.loaded == 1 ? "1 image" : "\(state.loaded) images"
      return "\(images) loaded by the service at `\(socket)`" + (reason.map { ", others not: \($0)" } ?? "")
    }
  }

  /// Loads an image by the service.
  ///
  /// - Parameters:
  ///   - variant: What to load.
  ///   - settings: Tell the greatest length.
  ///   - store: The cache that the service writes to.
  ///   - disk: Where that may be read.
  ///   - inFlight: Knows the priority, and hears of progress.
  /// - Returns: Nil where the program is to load it itself.
  /// - Throws: ``LoadError`` as the service met with it.
  func load(
    _ variant: ImageVariant,
    _ settings: UserSettings,
    from store: any ImageStoring,
    on disk: ThreadExecutor,
    load inFlight: InFlightLoad
  ) async throws(LoadError) -> FetchedImage? {
    guard state.withLock({ $0.obstacle == nil }) else { return nil }
    guard access(socket, F_OK) == 0 else {
      giveUp("it does not run")
      return nil
    }
    guard await greeted() else { return nil }
    let priority = inFlight.priority
    // That of no other load, whoever else asks the service.
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    guard let request = request(variant, settings, priority, name) else { return nil }
    let urgency = ServiceUrgency(after: priority) { await self.tell($0, of: name) }
    inFlight.onPriority { [weak inFlight] in if let inFlight { urgency.follow { inFlight.priority } } }
    defer {
      inFlight.onPriority(nil)
      urgency.end()
    }
    urgency.follow { inFlight.priority }
    let receiver = ServiceReceiver(inFlight, vigil)
    inFlight.setScans(of: variant.url) { [weak receiver] in receiver?.scan() }
    defer { inFlight.setScans(of: variant.url, nil) }
    let head: ResponseHead
    do throws(LoadError) {
      head = try await perform(request, into: receiver)
    } catch {
      let silence = vigil.silence
      if let silence { giveUp("it answers no longer: \(silence.message)") }
      guard error.code != .cancelled || silence != nil && !Task.isCancelled else { throw error }
      // The image itself may have broken off; then the next attempt says so.
      if silence == nil, receiver.head == nil { giveUp("it does not answer: \(error.message)") }
      // What the program loads itself nobody else asks for.
      inFlight.countsElsewhere = false
      note("it broke off: \(error.message)")
      return nil
    }
    guard head.status == 200 else { return try refused(head, receiver.bytes, variant) }
    state.withLock { $0.loaded += 1 }
    let kept = await disk.run { store.read(variant.url.key)?.image }
    return FetchedImage(
      bytes: receiver.bytes,
      mediaType: head.fields["Content-Type"] ?? "application/octet-stream",
      path: kept?.path,
      source: Self.source(head.fields["Cache-Status"]),
      response: kept?.response,
      notes: [head.fields["Feedimg-Note"]].compactMap { $0 }
    )
  }

  private func greeted() async -> Bool {
    guard let error = await silence.value else { return true }
    giveUp("it does not answer: \(error.message)")
    return false
  }

  /// Performs the request for an image, and breaks it off where the service turns out to hang.
  private func perform(
    _ request: DownloadRequest,
    into receiver: ServiceReceiver
  ) async throws(LoadError) -> ResponseHead {
    let transfer = Task { [downloader] () async -> Result<ResponseHead, LoadError> in
      do throws(LoadError) {
        return .success(try await downloader.download(request, into: receiver))
      } catch {
        return .failure(error)
      }
    }
    let number = vigil.begin { transfer.cancel() }
    defer { vigil.end(number) }
    let result = await withTaskCancellationHandler {
      await transfer.value
    } onCancel: {
      transfer.cancel()
    }
    return try result.get()
  }

  /// The source of an image, read from the `Cache-Status` of the service (RFC 9211 §2).
  ///
  /// - Parameter cacheStatus: The value of the field.
  /// - Returns: The disk also if a server validated the stored image, or if another client's download brought it.
  static func source(_ cacheStatus: String?) -> LoadedImage.Source {
    isForwarded(cacheStatus) && !isCollapsed(cacheStatus) ? .network : .disk
  }

  /// Whether the image comes from a server.
  static func isForwarded(_ cacheStatus: String?) -> Bool {
    guard let cacheStatus else { return false }
    return cacheStatus.contains("fwd=") && !cacheStatus.contains("fwd-status=304")
  }

  /// Whether it comes for who had asked the service before.
  static func isCollapsed(_ cacheStatus: String?) -> Bool { cacheStatus?.contains("collapsed") == true }

  private func request(
    _ variant: ImageVariant,
    _ settings: UserSettings,
    _ priority: LoadPriority,
    _ load: String
  ) -> DownloadRequest? {
    let name = variant.role == .original ? "originalImage" : "thumbnailImage"
    let item = JSONValue.object(JSONObject([(name, .string(variant.url.text))])).text(.compact)
    // What is too long for a query is rare enough.
    guard let url = try? ImageURL("http://localhost/v1/image?item=\(Self.escaped(item))") else { return nil }
    var fields = Self.fields(of: load, priority)
    fields.fields.append(.init(name: "Feedimg-Cache", value: cacheFolder))
    var request = DownloadRequest(
      url: url,
      fields: fields,
      bodyLimit: settings.downloadLimit,
      connectTimeout: .seconds(2),
      // It waits for its turn, its server and its retries as this program would.
      responseTimeout: .seconds(600),
      stallTimeout: .seconds(600)
    )
    request.socket = socket
    return request
  }

  /// Says how urgent a load is from now on; a service that is too old to understand that goes on as before.
  private func tell(_ priority: LoadPriority, of load: String) async {
    guard let url = try? ImageURL("http://localhost/v1/priority") else { return }
    var request = greeting.request(of: url)
    (request.method, request.fields) = (.post, Self.fields(of: load, priority))
    _ = try? await downloader.download(request, into: NoReceiver())
  }

  /// What a load is called, and how urgent it is.
  private static func fields(of load: String, _ priority: LoadPriority) -> HTTPFields {
    let urgency = priority == .visible ? 1 : priority == .near ? 4 : 6
    return HTTPFields([
      .init(name: "Feedimg-Load", value: load), .init(name: "Priority", value: "u=\(urgency)"),
    ])
  }

  /// Why the service has not loaded it: an error that this program would have met with as well, or nil for others.
  private func refused(
    _ head: ResponseHead,
    _ body: [UInt8],
    _ variant: ImageVariant
  ) throws(LoadError) -> FetchedImage? {
    guard case .object(let problem)? = try? JSONReader.value(in: body),
      let detail = problem["detail"]?.text
    else {
      giveUp("it answered \(head.status)")
      return nil
    }
    let name = problem["type"]?.text?.split(separator: ":").last ?? ""
    guard let code = LoadError.Code.allCases.first(where: { $0.kebab == name }), code.isOfServer else {
      // Its folder, its policy or its rights are others; the folder will stay so.
      if head.status == 421 { giveUp(detail) }
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
    error.origin = problem["origin"]?.text
    (error.isFromService, error.hasOpenCircuit) = (true, problem["originLeftAlone"] == true)
    throw error
  }

  private func giveUp(_ reason: String) { state.withLock { $0.obstacle = reason } }

  private func note(_ mishap: String) { state.withLock { $0.mishap = mishap } }

  /// As a value in a query (RFC 3986 §2.3).
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

extension LoadError.Code {
  /// In kebab case, such as `nothing-to-show`.
  package var kebab: String {
    rawValue.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
  }

  /// Whether it is about the server of the image, or the way to it, and not about who loads.
  fileprivate var isOfServer: Bool {
    switch self {
    case .status, .truncated, .tooLarge, .tooManyRedirects, .forbiddenRedirect, .notAnImage, .unknownHost,
      .connection, .timeout, .security, .malformed:
      true
    case .forbiddenAddress, .cancelled, .nothingToShow, .unavailable: false
    }
  }
}

import FeedimgHTTPCache
package import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Synchronization

/// The private cache of `GET /v1/fetch`, for responses of any media type, which follows RFC 9111 strictly.
///
/// The client gets the stored response if the RFC allows it. Otherwise it gets the server's response while that
/// arrives. Clients that request the same URL at the same time cause one request.
package final class ResponseCache: Sendable {
  let loader: ImageLoader
  let store: ResponseStore
  private let addresses: AddressPolicy
  private let coalescer = Coalescer<StoredResponse>()
  private let lastNumber = Atomic(0)

  /// Makes a cache that shares the network, the stores and the limits of a loader.
  package convenience init(_ loader: ImageLoader, _ configuration: ImageLoader.Configuration) {
    self.init(loader, addresses: configuration.reachesPrivateHosts ? .everything : .internet)
  }

  init(_ loader: ImageLoader, addresses: AddressPolicy = .everything) {
    self.loader = loader
    self.addresses = addresses
    store = ResponseStore(resources: loader.resources)
  }

  /// The response to a request, stored or new.
  ///
  /// A transfer stops when the tasks of all its callers are cancelled.
  package func response(to request: FetchRequest) async throws(FetchError) -> FetchResponse {
    if let rejection = addresses.rejection(of: request.url) {
      throw FetchError(cause: rejection, hasStored: false, cacheStatus: "feedimg; fwd=bypass")
    }
    return try await withTaskExecutorPreference(loader.resources.storage.reads) {
      () async throws(FetchError) in
      try await plannedResponse(to: request)
    }
  }

  @concurrent private func plannedResponse(
    to request: FetchRequest
  ) async throws(FetchError) -> FetchResponse {
    let (found, hasOthers) = store.find(request)
    let now = loader.resources.clock()
    let plan = FetchPlan(request, stored: found?.response, hasOthers: hasOthers, at: now)
    switch (plan, found) {
    case (.reuse(let revalidates), let hit?):
      if revalidates { revalidate(request, hit) }
      return reuse(hit, request, at: now)
    case (.validate(let reason, let fallback), let hit?):
      return try await fetch(validation(request, hit, fallback), reason)
    case (.fetch(let reason), _), (.validate(let reason, _), nil):
      let exchange = FetchExchange(cache: self, request: request, fields: request.whole(), stored: nil)
      return try await fetch(exchange, reason)
    case (.pass(let reason, let fallback), _):
      let exchange = FetchExchange(
        cache: self,
        request: request,
        fields: request.fields,
        stored: found,
        fallback: fallback
      )
      return try await fetch(exchange, reason, isOwn: true)
    case (.refuse, _), (.reuse, nil):
      throw FetchError(cause: nil, hasStored: found != nil, cacheStatus: "feedimg; detail=only-if-cached")
    }
  }

  /// The stored response if memory has it and it may be used without a request; never waits for files or servers.
  package func memoryHit(for request: FetchRequest) -> FetchResponse? {
    let (found, hasOthers) = store.find(request, inMemory: true)
    guard let found, addresses.rejection(of: request.url) == nil else { return nil }
    let now = loader.resources.clock()
    let plan = FetchPlan(request, stored: found.response, hasOthers: hasOthers, at: now)
    guard plan == .reuse(revalidates: false) else { return nil }
    store.noteUse(of: found)
    return reuse(found, request, at: now)
  }

  private func reuse(_ hit: ResponseStore.Hit, _ request: FetchRequest, at now: Double) -> FetchResponse {
    let left = Freshness(of: hit.response, for: request.control, at: now).left
    let status = "feedimg; hit; ttl=\(DeltaSeconds.whole(left))"
    return FetchResponse(hit, to: request, at: now, cacheStatus: status)
  }

  /// Whether nothing may be fetched from a server now.
  func isOffline(for url: ImageURL) -> Bool {
    let reader = loader.decisionContext(trustingNetwork: true).reader
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    let isLocal = reader.isLocal(item)
    return reader.situation(original: .remote, thumbnail: .none, size: nil, isLocal: isLocal).network
      == .offline
  }

  // MARK: Requests to servers

  private func validation(
    _ request: FetchRequest,
    _ hit: ResponseStore.Hit,
    _ fallback: FetchPlan.Fallback
  ) -> FetchExchange {
    FetchExchange(
      cache: self,
      request: request,
      fields: request.whole(with: Validators(of: hit.response).conditions),
      stored: hit,
      fallback: fallback,
      isValidation: true
    )
  }

  private func revalidate(_ request: FetchRequest, _ hit: ResponseStore.Hit) {
    let exchange = validation(request, hit, .none)
    PipelineActor.task { [self] in
      _ = try? await coalescer.value(for: key(of: exchange), handle: LoadHandle(.prefetch)) {
        await exchange.run($0)
      }
    }
  }

  /// The same for all requests that may share a response.
  private func key(of exchange: FetchExchange, isOwn: Bool = false) -> String {
    let key = "\(exchange.request.url.key) \(ResponseKey.identity(exchange.fields))"
    return isOwn ? "\(key) \(lastNumber.add(1, ordering: .relaxed).newValue)" : key
  }

  private enum Beginning: Sendable {
    case arriving(StreamingResponse)
    case ended(StoredResponse)
  }

  private func fetch(
    _ exchange: FetchExchange,
    _ reason: FetchPlan.Reason,
    isOwn: Bool = false
  ) async throws(FetchError) -> FetchResponse {
    let request = exchange.request
    let (coalescer, key) = (coalescer, key(of: exchange, isOwn: isOwn))
    let (first, leave) = await Promise<Result<Beginning, LoadError>>.of { promise in
      do throws(LoadError) {
        let response = try await coalescer.value(
          for: key,
          handle: LoadHandle(request.priority),
          onResponse: { promise.resolve(.success(.arriving($0))) },
          by: { await exchange.run($0) }
        )
        promise.resolve(.success(.ended(response)))
      } catch {
        promise.resolve(.failure(error))
      }
    }
    let forwarded = "feedimg; fwd=\(reason.rawValue)"
    switch first {
    case .success(.arriving(let streaming)):
      let isFirst = isOwn || streaming.claim()
      guard isFirst || Self.mayShare(streaming.response) else {
        leave()
        return try await fetch(exchange, reason, isOwn: true)
      }
      let head = streaming.response.head
      return FetchResponse(
        status: head.status,
        fields: streaming.response.forwardedFields(),
        body: request.isHead
          ? .absent(length: head.bodyLength) : .arriving(streaming.body, length: head.bodyLength),
        cacheStatus: forwarded + "; fwd-status=\(head.status)"
          + (exchange.stores(streaming.response) ? "; stored" : "") + (isFirst ? "" : "; collapsed"),
        isWhole: !isOwn || exchange.isValidation || exchange.fields == request.whole(),
        leave: leave
      )
    case .success(.ended(let response)):
      guard var hit = exchange.stored else { throw failure(exchange, nil, forwarded) }
      hit.response = response
      return FetchResponse(
        hit,
        to: request,
        at: loader.resources.clock(),
        cacheStatus: forwarded + "; fwd-status=304"
      )
    case .failure(let error):
      guard let hit = exchange.stored, mayReuse(exchange.fallback, after: error) else {
        throw failure(exchange, error, forwarded)
      }
      let status = error.status.map { "; fwd-status=\($0)" } ?? ""
      return FetchResponse(
        hit,
        to: request,
        at: loader.resources.clock(),
        cacheStatus: forwarded + status + "; detail=stale"
      )
    }
  }

  private func failure(_ exchange: FetchExchange, _ error: LoadError?, _ forwarded: String) -> FetchError {
    let cause =
      error ?? LoadError(.malformed, url: exchange.request.url, message: "the server sent no response")
    return FetchError(
      cause: cause,
      hasStored: exchange.stored != nil && cause.isDisconnection,
      cacheStatus: forwarded
    )
  }

  private func mayReuse(_ fallback: FetchPlan.Fallback, after error: LoadError) -> Bool {
    switch fallback {
    case .none: false
    case .ifUnreachable: error.isDisconnection
    case .ifError: error.isDisconnection || error.code == .status
    }
  }

  /// Whether the response to one client may serve the others that made the same request meanwhile (RFC 9111 §4).
  private static func mayShare(_ response: StoredResponse) -> Bool {
    responseStorageAllowed(head: response.head) && !CacheControl(response.head.fields).has("no-cache")
  }
}

/// The stored responses of `GET /v1/fetch`, in the disk cache and the memory of a loader.
///
/// The disk has up to five variants of a URL (RFC 9111 §4.1). Memory has the one that was read last; a request that
/// selects another one reads the disk.
struct ResponseStore: Sendable {
  struct Hit: Sendable {
    var key: String
    var response: StoredResponse
    var bytes: [UInt8]
  }

  let resources: LoaderResources

  /// The stored response that a request selects, from memory or else the disk.
  ///
  /// - Parameters:
  ///   - request: The request of a client.
  ///   - inMemory: Whether to skip the disk; otherwise call it only on the thread for files.
  /// - Returns: Nil if there is none, and whether there are variants for other requests.
  func find(_ request: FetchRequest, inMemory: Bool = false) -> (hit: Hit?, hasOthers: Bool) {
    let key = key(of: request)
    if let image = resources.storage.memory[key], let hit = Hit(key, image, for: request) {
      if !inMemory { noteUse(of: hit) }
      return (hit, false)
    }
    guard !inMemory else { return (nil, false) }
    let image = resources.storage.memory.fill(key) {
      resources.storage.store.read(key, for: request.fields).map(MemoryCache.Image.init)
    }
    guard let image else { return (nil, false) }
    let hit = Hit(key, image, for: request)
    return (hit, hit == nil)
  }

  /// Tells the disk that a response was used from memory.
  func noteUse(of hit: Hit) { resources.storage.uses.note(hit.key, for: hit.response.varied) }

  /// Commits the body of a response; one that cannot be stored is fetched again next time.
  func commit(_ writer: any ImageWriting, _ response: StoredResponse, to request: FetchRequest) async {
    let key = key(of: request)
    let metadata = ImageMetadata(key: key, role: .original, mediaType: "", response: response)
    guard case .success = await resources.storage.commit(writer, metadata) else { return }
    resources.storage.memory.remove(key)
  }

  private func key(of request: FetchRequest) -> String { ResponseKey(request.url, request.fields).text }
}

extension ResponseStore.Hit {
  /// - Returns: Nil if the stored response is of another variant.
  fileprivate init?(_ key: String, _ image: MemoryCache.Image, for request: FetchRequest) {
    guard let response = image.response, response.matches(request.fields) else { return nil }
    self.init(key: key, response: response, bytes: image.bytes)
  }
}

/// The response to a client of `GET /v1/fetch`.
package struct FetchResponse: Sendable {
  package enum Body: Sendable {
    /// None, as the client requested the head alone; the length of the body if it is known.
    case absent(length: Int?)
    case whole([UInt8])
    /// The length is nil if the server does not announce it.
    case arriving(ResponseStream, length: Int?)
  }

  package let status: Int
  /// The server's fields without those of its connection and without `Content-Length`.
  package let fields: HTTPFields
  package let body: Body
  /// How the cache handled the request (RFC 9211).
  package let cacheStatus: String
  /// Whether this is the whole response, although the client may have sent a condition or a range.
  package let isWhole: Bool
  /// Stops the transfer for this client; to be called when the body has ended or is no longer read.
  package let leave: @Sendable () -> Void
}

/// Why the cache has no response.
package struct FetchError: Error, Sendable {
  /// The failure; nil if the client allowed no request to a server.
  package let cause: LoadError?
  /// Whether there is a stored response that must not be used without validation (RFC 9111 §5.2.2.2).
  package let hasStored: Bool
  /// How the cache handled the request (RFC 9211).
  package let cacheStatus: String
}

extension FetchResponse {
  /// A stored response, with its age now.
  init(_ hit: ResponseStore.Hit, to request: FetchRequest, at now: Double, cacheStatus: String) {
    self.init(
      status: hit.response.head.status,
      fields: hit.response.forwardedFields(at: now),
      body: request.isHead ? .absent(length: hit.bytes.count) : .whole(hit.bytes),
      cacheStatus: cacheStatus,
      isWhole: true,
      leave: {}
    )
  }
}

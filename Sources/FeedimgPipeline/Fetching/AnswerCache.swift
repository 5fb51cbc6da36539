import FeedimgCache
import FeedimgModel
import FeedimgTransfer
import Synchronization

/// A private cache of responses of any kind, which follows RFC 9111 strictly.
///
/// Where the RFC allows it, the client gets the stored response. Otherwise it gets the server's response while that
/// arrives. Clients that request the same URL at the same time cause one request.
package final class AnswerCache: Sendable {
  let loader: ImageLoader
  let shelf: AnswerShelf
  private let addresses: AddressPolicy
  private let desk: Coalescer<FetchExchange.Outcome>
  private let lastNumber = Atomic(0)

  /// A cache beside that of a loader, whose network, queue and limits it shares.
  ///
  /// - Parameters:
  ///   - loader: What fetches.
  ///   - configuration: That of the loader.
  /// - Throws: ``ConfigurationError`` where no folder is known.
  package convenience init(
    _ loader: ImageLoader,
    _ configuration: ImageLoader.Configuration
  ) throws(ConfigurationError) {
    self.init(
      loader,
      beside: try Folders(configuration).cache,
      addresses: configuration.reachesPrivateHosts ? .everything : .internet
    )
  }

  init(_ loader: ImageLoader, beside folder: String, addresses: AddressPolicy = .everything) {
    self.loader = loader
    self.addresses = addresses
    shelf = AnswerShelf(beside: folder, of: loader)
    desk = Coalescer()
  }

  /// Answers a request.
  ///
  /// Cancelling the task leaves it; the last one to leave stops the transfer.
  ///
  /// - Throws: ``FetchError`` where there is no answer.
  package func answer(_ request: FetchRequest) async throws(FetchError) -> FetchAnswer {
    if let objection = addresses.objection(to: request.url) {
      throw FetchError(cause: objection, hasStored: false, cacheStatus: "feedimg; fwd=bypass")
    }
    return try await withTaskExecutorPreference(loader.disk) { () async throws(FetchError) in
      try await decided(request)
    }
  }

  @concurrent private func decided(_ request: FetchRequest) async throws(FetchError) -> FetchAnswer {
    let (found, hasOthers) = shelf.find(request)
    let now = loader.clock()
    let plan = FetchPlan(request, stored: found?.answer, hasOthers: hasOthers, at: now)
    switch (plan, found) {
    case (.reuse(let revalidates), let found?):
      if revalidates { revalidate(request, found) }
      return hit(found, request, at: now)
    case (.validate(let reason, let fallback), let found?):
      return try await ask(validation(request, found, fallback), reason)
    case (.fetch(let reason), _), (.validate(let reason, _), nil):
      return try await ask(exchange(request, request.whole(), nil), reason)
    case (.pass(let reason, let fallback), _):
      return try await ask(exchange(request, request.fields, found, fallback), reason, isOwn: true)
    case (.refuse, _), (.reuse, nil):
      throw FetchError(cause: nil, hasStored: found != nil, cacheStatus: "feedimg; detail=only-if-cached")
    }
  }

  /// What ``answer(_:)`` would answer, if memory has it; waits neither for files nor for servers.
  ///
  /// - Returns: Nil where anything is to be read, asked or told besides.
  package func atHand(_ request: FetchRequest) -> FetchAnswer? {
    let (found, hasOthers) = shelf.find(request, in: .memory)
    guard let found, addresses.objection(to: request.url) == nil else { return nil }
    let now = loader.clock()
    let plan = FetchPlan(request, stored: found.answer, hasOthers: hasOthers, at: now)
    guard plan == .reuse(revalidates: false) else { return nil }
    shelf.noteUse(of: found)
    return hit(found, request, at: now)
  }

  private func hit(_ found: AnswerShelf.Finding, _ request: FetchRequest, at now: Double) -> FetchAnswer {
    let left = Freshness(of: found.answer, for: request.control, at: now).left
    let status = "feedimg; hit; ttl=\(DeltaSeconds.whole(left))"
    return FetchAnswer(found, to: request, at: now, cacheStatus: status)
  }

  /// Whether nothing may be fetched from a server now.
  func isOffline(for url: ImageURL) -> Bool {
    let reader = loader.decisionContext(trustingNetwork: true).reader
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    let isLocal = reader.isLocal(item)
    return reader.situation(original: .remote, thumbnail: .none, size: nil, isLocal: isLocal).network
      == .offline
  }

  // MARK: Asking

  private func exchange(
    _ request: FetchRequest,
    _ fields: HTTPFields,
    _ stored: AnswerShelf.Finding?,
    _ fallback: FetchPlan.Fallback = .none,
    isValidation: Bool = false
  ) -> FetchExchange {
    FetchExchange(
      cache: self,
      request: request,
      fields: fields,
      stored: stored,
      fallback: fallback,
      isValidation: isValidation
    )
  }

  private func validation(
    _ request: FetchRequest,
    _ found: AnswerShelf.Finding,
    _ fallback: FetchPlan.Fallback
  ) -> FetchExchange {
    let question = Validators(of: found.answer).question
    return exchange(request, request.whole(asking: question), found, fallback, isValidation: true)
  }

  private func revalidate(_ request: FetchRequest, _ found: AnswerShelf.Finding) {
    let exchange = validation(request, found, .none)
    Task { [desk] in _ = try? await desk.answer(for: key(of: exchange)) { await exchange.run($0) } }
  }

  /// What is the same for all who share an answer.
  private func key(of exchange: FetchExchange, isOwn: Bool = false) -> String {
    let key = "\(exchange.request.url.key) \(AnswerKey.identity(exchange.fields))"
    return isOwn ? "\(key) \(lastNumber.add(1, ordering: .relaxed).newValue)" : key
  }

  private enum Beginning: Sendable {
    case arriving(StreamingResponse)
    case ended(FetchExchange.Outcome)
  }

  private func ask(
    _ exchange: FetchExchange,
    _ reason: FetchPlan.Reason,
    isOwn: Bool = false
  ) async throws(FetchError) -> FetchAnswer {
    let request = exchange.request
    let (desk, key) = (desk, key(of: exchange, isOwn: isOwn))
    let (first, leave) = await Opening<Result<Beginning, LoadError>>.of { opening in
      do throws(LoadError) {
        let share = try await desk.answer(
          for: key,
          handle: LoadHandle(request.priority),
          onResponse: { opening.settle(.success(.arriving($0))) },
          by: { await exchange.run($0) }
        )
        opening.settle(.success(.ended(share.answer)))
      } catch {
        opening.settle(.failure(error))
      }
    }
    let forwarded = "feedimg; fwd=\(reason.rawValue)"
    switch first {
    case .success(.arriving(let arrival)):
      let isFirst = isOwn || arrival.claim()
      guard isFirst || Self.mayShare(arrival.answer) else {
        leave()
        return try await ask(exchange, reason, isOwn: true)
      }
      let status = forwarded + "; fwd-status=\(arrival.answer.head.status)"
      return FetchAnswer(
        arrival,
        to: request,
        cacheStatus: status + (exchange.keeps(arrival.answer) ? "; stored" : "")
          + (isFirst ? "" : "; collapsed"),
        isWhole: !isOwn || exchange.isValidation || exchange.fields == request.whole(),
        leave: leave
      )
    case .success(.ended(.unchanged(let answer))), .success(.ended(.answered(let answer))):
      guard var found = exchange.stored else { throw failure(exchange, nil, forwarded) }
      found.answer = answer
      return FetchAnswer(found, to: request, at: loader.clock(), cacheStatus: forwarded + "; fwd-status=304")
    case .failure(let error):
      guard let found = exchange.stored, mayStandIn(exchange.fallback, for: error) else {
        throw failure(exchange, error, forwarded)
      }
      let status = error.status.map { "; fwd-status=\($0)" } ?? ""
      return FetchAnswer(
        found,
        to: request,
        at: loader.clock(),
        cacheStatus: forwarded + status + "; detail=stale"
      )
    }
  }

  private func failure(_ exchange: FetchExchange, _ error: LoadError?, _ forwarded: String) -> FetchError {
    let cause =
      error ?? LoadError(.malformed, url: exchange.request.url, message: "the server sent no answer")
    return FetchError(
      cause: cause,
      hasStored: exchange.stored != nil && Self.isUnreachable(cause),
      cacheStatus: forwarded
    )
  }

  private func mayStandIn(_ fallback: FetchPlan.Fallback, for error: LoadError) -> Bool {
    switch fallback {
    case .none: false
    case .ifUnreachable: Self.isUnreachable(error)
    case .ifError: Self.isUnreachable(error) || error.code == .status
    }
  }

  private static func isUnreachable(_ error: LoadError) -> Bool {
    [.connection, .unknownHost, .timeout].contains(error.code)
  }

  /// Whether an answer that was made for one may serve those who asked at the same time (RFC 9111 §4).
  private static func mayShare(_ answer: StoredResponse) -> Bool {
    answerStorageAllowed(head: answer.head) && !CacheControl(answer.head.fields).has("no-cache")
  }
}

import FeedimgModel

/// Which paths there are, and what answers them.
struct RouteTable: Sendable {
  /// Answers a request, or says why it is refused.
  typealias Handler = @Sendable (ServiceRequest) async throws(Problem) -> ServiceAnswer
  /// A path, and what answers each of its methods.
  typealias Route = (path: String, [(method: String, handler: Handler)])

  /// Answers a request at once, on the thread of its connection; nil where that takes longer.
  typealias Shortcut = @Sendable (ServiceRequest) -> ServiceAnswer?

  /// What one path takes, by method; who takes `GET` takes `HEAD` as well.
  private let routes: [String: [(method: String, handler: Handler)]]
  /// What may be answered to `GET` and `HEAD` without waiting, by path.
  private let shortcuts: [String: Shortcut]
  private let metrics: ServiceMetrics
  /// The targets with shortcuts, by their text.
  private let targets = TextMemo<RequestTarget>()

  init(_ routes: [Route], shortcuts: [String: Shortcut] = [:], metrics: ServiceMetrics) {
    self.routes = Dictionary(routes.map { ($0.path, $0.1) }) { $0 + $1 }
    self.shortcuts = shortcuts
    self.metrics = metrics
  }

  /// All paths.
  var paths: [String] { routes.keys.sorted() }

  /// Answers a request; what is refused is answered by a problem document.
  func answer(_ request: ServiceRequest) async -> ServiceAnswer {
    let answer: ServiceAnswer
    do throws(Problem) {
      answer = try await handler(of: request)(request)
    } catch {
      answer = error.answer
    }
    count(answer, to: request)
    return answer
  }

  /// Whether a request is one for what may be at hand; what is left to do for such a one is mostly waiting.
  func hasShortcut(_ request: ServiceRequest) -> Bool { shortcuts[request.target.path] != nil }

  /// Answers a request if that takes no waiting.
  func answerAtOnce(_ request: ServiceRequest) -> ServiceAnswer? {
    guard request.method == "GET" || request.method == "HEAD",
      let answer = shortcuts[request.target.path]?(request)
    else { return nil }
    count(answer, to: request)
    return answer
  }

  /// Answers a `GET` if that takes no waiting.
  ///
  /// - Parameters:
  ///   - target: Printable ASCII alone.
  ///   - fields: Those that the routes may see.
  ///   - takesCopies: See ``ServiceRequest/takesCopies``.
  /// - Returns: Nil where it takes longer; nothing is counted then.
  func answerAtOnce(
    _ target: Slice<UnsafeRawBufferPointer>,
    _ fields: HTTPFields,
    takesCopies: Bool
  ) -> ServiceAnswer? {
    let known = targets.meaning(of: String(decoding: target, as: UTF8.self)) { text in
      RequestTarget(text).flatMap { shortcuts[$0.path] == nil ? nil : $0 }
    }
    return known.flatMap { target in
      var request = ServiceRequest("GET", target, fields: fields)
      request.takesCopies = takesCopies
      return answerAtOnce(request)
    }
  }

  /// What the service as a whole takes (RFC 9110 §9.3.7).
  var options: ServiceAnswer {
    let methods = Set(routes.values.joined().map(\.method)).union(["HEAD", "OPTIONS"])
    return ServiceAnswer(204, fields: [("Allow", methods.sorted().joined(separator: ", "))])
  }

  private func count(_ answer: ServiceAnswer, to request: ServiceRequest) {
    // Only names that exist, so that nobody can make the list grow.
    let route = routes[request.target.path] == nil ? "other" : request.target.path
    metrics.count("feedimg_requests_total", ("route", route), ("status", String(answer.status)))
  }

  private func handler(of request: ServiceRequest) throws(Problem) -> Handler {
    guard let methods = routes[request.target.path] else {
      throw Problem(404, "there is nothing at `\(request.target.path)`; /openapi.json tells what there is")
    }
    let wanted = request.method == "HEAD" ? "GET" : request.method
    if let found = methods.first(where: { $0.method == wanted }) { return found.handler }
    let names = methods.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] } + ["OPTIONS"]
    let allow = ("Allow", names.joined(separator: ", "))
    if request.method == "OPTIONS" {
      let takes =
        names.contains("PATCH") ? [("Accept-Patch", SettingsRoute.mediaTypes.joined(separator: ", "))] : []
      return { _ in ServiceAnswer(204, fields: [allow] + takes) }
    }
    throw Problem(
      405,
      "`\(request.target.path)` takes \(allow.1), not `\(request.method)`",
      fields: [allow]
    )
  }
}

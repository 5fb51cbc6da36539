import Feedimg
import FeedimgModel

/// `GET /v1/fetch`: any URL, as its server answers, from a private cache (RFC 9111).
struct FetchRoute: Sendable {
  let cache: AnswerCache
  let metrics: ServiceMetrics

  /// What the server of the URL answered, now or before.
  func answer(_ request: ServiceRequest) async throws(Problem) -> ServiceAnswer {
    let fetch = Self.fetch(request, try Self.url(in: request.target))
    do throws(FetchError) {
      let fetched = try await cache.answer(fetch)
      metrics.count("feedimg_fetches_total", ("cache", fetched.isHit ? "hit" : "miss"))
      return Self.answer(fetched, to: request)
    } catch {
      metrics.count("feedimg_fetches_total", ("cache", "failed"))
      throw error.problem
    }
  }

  /// What memory has and may be used as it is; nil where it takes longer to tell.
  func atHand(_ request: ServiceRequest) -> ServiceAnswer? {
    guard let url = try? Self.url(in: request.target),
      let fetched = cache.atHand(Self.fetch(request, url))
    else { return nil }
    metrics.count("feedimg_fetches_total", ("cache", "hit"))
    return Self.answer(fetched, to: request)
  }

  private static func fetch(_ request: ServiceRequest, _ url: ImageURL) -> FetchRequest {
    let isHead = request.method == "HEAD"
    var fields = request.fields
    // Of a head there are no parts, wherever it comes from (RFC 9110 §14.2).
    if isHead { fields.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") } }
    return FetchRequest(
      url,
      isHead: isHead,
      fields: fields,
      priority: RequestPriority(request.fields["Priority"]).load
    )
  }

  private static func url(in target: RequestTarget) throws(Problem) -> ImageURL {
    guard let text = target["url"] else { throw Problem(400, "expected a URL in the query, as `url=`") }
    do throws(ImageURLError) {
      return try ImageURL(text)
    } catch {
      let detail = "`url` \(error); expected http or https"
      if case .scheme = error { throw Problem(403, detail, code: "forbidden-scheme") }
      throw Problem(400, "`url` \(error)")
    }
  }

  private static func answer(_ fetched: FetchAnswer, to request: ServiceRequest) -> ServiceAnswer {
    var fields = fetched.fields.fields
    fields.append(HTTPFields.Field(name: "Cache-Status", value: fetched.cacheStatus))
    // To a browser every page from here is of one origin, that of the service: none may do anything in its name.
    fields.append(HTTPFields.Field(name: "Content-Security-Policy", value: "sandbox"))
    var answer = ServiceAnswer(fetched.status)
    answer.fields = HTTPFields(fields)
    let portion =
      fetched.isWhole && fetched.status == 200
      ? Portion(of: fetched.fields, request, length: fetched.length) : .whole
    switch portion {
    case .whole: answer.body = fetched.whole
    case .notModified:
      answer.status = 304
      answer.fields.fields.removeAll { !Self.kept.contains($0.name.lowercased()) }
      answer.body = .absent(length: nil)
    case .part(let range):
      answer.status = 206
      let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(fetched.length ?? 0)"
      answer.fields.fields.append(HTTPFields.Field(name: "Content-Range", value: place))
      answer.body = fetched.part(range)
    case .unsatisfiable:
      fetched.leave()
      let place = ("Content-Range", "bytes */\(fetched.length ?? 0)")
      return Problem(
        416,
        "the body has \(fetched.length ?? 0) bytes",
        fields: [place, ("Cache-Status", fetched.cacheStatus)]
      ).answer
    }
    return answer
  }

  /// What goes with 304 (RFC 9110 §15.4.5).
  private static let kept: Set<String> = [
    "age", "cache-control", "cache-status", "content-location", "date", "etag", "expires", "last-modified",
    "vary",
  ]
}

extension FetchAnswer {
  fileprivate var isHit: Bool { cacheStatus.hasPrefix("feedimg; hit") }

  fileprivate var length: Int? {
    switch body {
    case .absent(let length), .arriving(_, let length): length
    case .whole(let bytes): bytes.count
    }
  }

  fileprivate var whole: ServiceAnswer.Body {
    switch body {
    case .absent(let length): .absent(length: length)
    case .whole(let bytes): .bytes(bytes[...])
    case .arriving(let body, let length): .stream(AnswerStream(body, length: length, leave: leave))
    }
  }

  fileprivate func part(_ range: Range<Int>) -> ServiceAnswer.Body {
    switch body {
    case .absent: .absent(length: range.count)
    case .whole(let bytes): .bytes(bytes[range])
    case .arriving(let body, let length):
      .stream(AnswerStream(body, length: length, part: range, leave: leave))
    }
  }
}

extension FetchError {
  /// The failure as a client is told of it.
  fileprivate var problem: Problem {
    guard let cause else {
      var problem = Problem(504, "nothing is stored that may be used without asking", code: "only-if-cached")
      problem.fields = [("Cache-Status", cacheStatus)]
      return problem
    }
    var problem = cause.problem
    // What must be asked about and cannot be (RFC 9111 §5.2.2.2).
    if hasStored { problem.status = 504 }
    problem.fields.append(("Cache-Status", cacheStatus))
    return problem
  }
}

import Feedimg
import FeedimgModel

/// `GET /v1/fetch`: the response of the server of any URL, through a private cache (RFC 9111).
struct FetchRoute: Sendable {
  let cache: ResponseCache
  let metrics: ServiceMetrics

  /// The response in memory, if it may be used without a request; nil where more work is needed.
  func memoryHit(_ request: ServiceRequest) -> ServiceResponse? {
    guard let url = try? request.target.url,
      let fetched = cache.memoryHit(for: Self.fetch(request, url))
    else { return nil }
    metrics.count(.fetches(cache: "hit"))
    return Self.response(to: request, fetched)
  }

  /// The response of the server, stored or new.
  func response(to request: ServiceRequest) async throws(Problem) -> ServiceResponse {
    let fetch = Self.fetch(request, try request.target.url)
    do throws(FetchError) {
      let fetched = try await cache.response(to: fetch)
      metrics.count(.fetches(cache: fetched.isHit ? "hit" : "miss"))
      return Self.response(to: request, fetched)
    } catch {
      metrics.count(.fetches(cache: "failed"))
      throw error.problem
    }
  }

  private static func fetch(_ request: ServiceRequest, _ url: ImageURL) -> FetchRequest {
    let isHead = request.method == "HEAD"
    var fields = request.fields
    // A range has no meaning for HEAD (RFC 9110 §14.2).
    if isHead { fields.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") } }
    return FetchRequest(
      url,
      isHead: isHead,
      fields: fields,
      priority: RequestPriority(request.fields["Priority"]).load
    )
  }

  private static func response(to request: ServiceRequest, _ fetched: FetchResponse) -> ServiceResponse {
    var response = ServiceResponse(fetched.status)
    response.fields = fetched.fields
    response.fields.fields += [
      HTTPFields.Field(name: "Cache-Status", value: fetched.cacheStatus),
      // For a browser, all responses have the origin of this service; the sandbox takes it from them.
      HTTPFields.Field(name: "Content-Security-Policy", value: "sandbox"),
    ]
    let condition =
      fetched.isWhole && fetched.status == 200
      ? ResponseSelection(of: fetched.fields, request, length: fetched.length) : .full
    switch condition {
    case .full: response.body = fetched.body()
    case .notModified:
      // The client needs no body, so a download stops unless others read it.
      fetched.leave()
      response.status = 304
      response.fields.fields.removeAll { !Self.notModifiedFields.contains($0.name.lowercased()) }
      response.body = .absent(length: nil)
    case .partial(let range): response.become(range, of: fetched.length ?? 0, fetched.body(range))
    case .rangeNotSatisfiable:
      fetched.leave()
      let fields = [("Cache-Status", fetched.cacheStatus)]
      return Problem.range(beyond: fetched.length ?? 0, of: "body", fields).response
    }
    return response
  }

  /// The fields of a response with status 304 (RFC 9110 §15.4.5).
  private static let notModifiedFields: Set<String> = [
    "age", "cache-control", "cache-status", "content-location", "date", "etag", "expires", "last-modified",
    "vary",
  ]
}

extension RequestTarget {
  /// The URL of `url=`; another scheme than http and https has the status 403.
  var url: ImageURL {
    get throws(Problem) {
      guard let text = self["url"] else { throw Problem(400, "expected a URL in the query, as `url=`") }
      do throws(ImageURLError) {
        return try ImageURL(text)
      } catch {
        let detail = "`url` \(error); expected http or https"
        if case .scheme = error { throw Problem(403, detail, code: "forbidden-scheme") }
        throw Problem(400, "`url` \(error)")
      }
    }
  }
}

extension FetchResponse {
  fileprivate var isHit: Bool { cacheStatus.hasPrefix("feedimg; hit") }

  fileprivate var length: Int? {
    switch body {
    case .absent(let length), .arriving(_, let length): length
    case .whole(let bytes): bytes.count
    }
  }

  /// The body, or a part of it.
  fileprivate func body(_ part: Range<Int>? = nil) -> ServiceResponse.Body {
    switch body {
    case .absent(let length): .absent(length: part?.count ?? length)
    case .whole(let bytes): .bytes(bytes[part ?? bytes.indices])
    case .arriving(let body, let length):
      .stream(BodyStream(body: body, total: length, part: part, leave: leave))
    }
  }
}

extension FetchError {
  /// The failure as a problem document.
  fileprivate var problem: Problem {
    guard let cause else {
      return Problem(
        504,
        "no stored response may be used without a request",
        code: "only-if-cached",
        fields: [("Cache-Status", cacheStatus)]
      )
    }
    var problem = cause.problem
    // A stored response needs a validation that failed (RFC 9111 §5.2.2.2).
    if hasStored { problem.status = 504 }
    problem.fields.append(("Cache-Status", cacheStatus))
    return problem
  }
}

import FeedimgModel

/// What one transfer makes of what arrives; libcurl moves the bytes.
struct Transfer {
  /// What to do with bytes of a body.
  enum BodyStep: Equatable {
    case deliver
    /// They belong to the answer of a redirect.
    case skip
    /// They belong to the answer of a redirect and are too many to be read for the sake of the connection.
    case abandon
  }

  /// What follows the end of libcurl's work on one URL.
  enum EndStep {
    case follow
    case succeed(ResponseHead)
    case fail(LoadError)
  }

  let request: DownloadRequest
  /// Where redirects have led; nil before the first.
  private var redirects: RedirectChain?
  /// Bytes of the final body so far.
  private(set) var received = 0
  private var parser = ResponseHeadParser()
  private var head: ResponseHead?
  /// Whether libcurl undoes a content coding of the final body, which then has other bytes than came.
  private(set) var hasDecodedBody = false
  /// Whether the final head, or that of a redirect, is still to come.
  private var awaitsHead = true
  private var redirect: (status: Int, location: String, skipped: Int)?
  private var requestWasSent = false
  private var failure: LoadError?

  /// A longer body of a redirect costs more than a new connection.
  static let greatestSkipped = 64 << 10

  init(_ request: consuming DownloadRequest) { self.request = request }

  /// The present URL.
  var url: ImageURL { redirects?.url ?? request.url }

  /// The fields to send to the present URL.
  var fields: HTTPFields {
    guard let redirects, !redirects.staysHome else { return request.fields }
    return HTTPFields(request.fields.fields.filter { !Origin.binds($0) })
  }

  /// Whether libcurl is to undo a content coding; who asks for codings gets them as they are.
  var decodesContent: Bool { request.fields["accept-encoding"] == nil }

  /// How much is still to come of the body.
  ///
  /// - Parameter length: How long it probably is, as long as the server has not said.
  /// - Returns: Bytes.
  func missing(ofUnannounced length: Int) -> Int { max(0, (head?.contentLength ?? length) - received) }

  mutating func sentRequest() { requestWasSent = true }

  /// Takes a line of a head.
  ///
  /// - Returns: The final head, when the line ends it.
  /// - Throws: ``LoadError`` with `malformed` or `tooLarge`.
  mutating func takeHeaderLine(_ line: UnsafeRawBufferPointer) throws(LoadError) -> ResponseHead? {
    // What follows the body are trailers (RFC 9110 §6.5), which say nothing that is needed here.
    guard awaitsHead, let answer = try parser.take(line) else { return nil }
    return try takeHead(answer)
  }

  private mutating func takeHead(_ answer: ResponseHeadParser.Head) throws(LoadError) -> ResponseHead? {
    awaitsHead = false
    if request.followsRedirects, RedirectChain.isRedirect(answer.status),
      let location = answer.fields.fields.first(where: { $0.isNamed("location") })
    {
      redirect = (answer.status, location.value, 0)
      return nil
    }
    let decoded = answer.contentCoding != nil && decodesContent
    let final = ResponseHead(
      status: answer.status,
      fields: decoded ? answer.fields.withoutContentCoding : answer.fields,
      url: url,
      contentLength: decoded ? nil : answer.contentLength,
      // The length tells nothing of what has been decoded, whose end libcurl does not look for.
      endsByClosing: answer.endsByClosing || decoded
    )
    if request.method != .head, let length = final.contentLength, length > request.bodyLimit.bytes {
      throw tooLarge("the body has \(length) bytes, over")
    }
    hasDecodedBody = decoded
    head = final
    return final
  }

  /// Takes note of bytes of a body before they are delivered.
  ///
  /// - Throws: ``LoadError`` with `tooLarge`.
  mutating func takeBody(_ count: Int) throws(LoadError) -> BodyStep {
    if let skipped = redirect?.skipped {
      redirect?.skipped = skipped + count
      return skipped + count > Self.greatestSkipped ? .abandon : .skip
    }
    received += count
    guard received <= request.bodyLimit.bytes else { throw tooLarge("the body is longer than") }
    return .deliver
  }

  /// Keeps why the transfer is stopped from this side; the first reason counts.
  mutating func stop(_ error: LoadError) {
    if failure == nil { failure = error }
  }

  /// Keeps that a time limit was exceeded.
  mutating func stop(_ limit: Patience.Limit) { stop(CurlOutcome.error(limit, progress)) }

  /// The head of the final answer, where libcurl has ended well and nothing else is to be said.
  mutating func takeSuccess() -> ResponseHead? {
    guard failure == nil, redirect == nil else { return nil }
    return head.take()
  }

  /// Decides what follows when libcurl has ended.
  ///
  /// - Parameter outcome: What libcurl says.
  /// - Returns: The result, or that the transfer goes on at another URL.
  mutating func end(_ outcome: CurlOutcome) -> EndStep {
    if let failure { return .fail(named(failure)) }
    do throws(LoadError) {
      // A redirect counts as soon as its head has come, however its body went.
      if let redirect {
        var chain = redirects ?? RedirectChain(from: request.url, limit: request.redirectLimit)
        try chain.follow(redirect.location, status: redirect.status)
        redirects = chain
        self.redirect = nil
        awaitsHead = true
        parser = ResponseHeadParser()
        requestWasSent = false
        return .follow
      }
      if outcome.isFailure, let error = outcome.error(progress) { throw error }
    } catch {
      return .fail(named(error))
    }
    return head.map { .succeed($0) } ?? .fail(named(CurlOutcome.headBroken))
  }

  private var progress: CurlOutcome.Progress {
    CurlOutcome.Progress(
      origin: Origin(url),
      requestWasSent: requestWasSent,
      head: head,
      received: received
    )
  }

  private func named(_ error: LoadError) -> LoadError {
    var error = error
    error.url = error.url ?? request.url
    return error
  }

  private func tooLarge(_ fact: String) -> LoadError {
    LoadError(.tooLarge, message: "\(fact) the limit of \(request.bodyLimit)")
  }
}

extension HTTPFields {
  /// The fields as they are once the content coding has been undone.
  ///
  /// As nginx's gunzip does: what describes the coded bytes goes, and a strong validator becomes a weak one, since
  /// the bytes are no longer those it stands for (RFC 9110 §8.8.1). Ranges would be of the coded bytes as well.
  var withoutContentCoding: HTTPFields {
    let coded = ["content-encoding", "content-length", "accept-ranges", "content-md5", "digest"]
    var result = HTTPFields(fields.filter { field in !coded.contains { field.isNamed($0) } })
    result.fields.append(Field(name: "Accept-Ranges", value: "none"))
    for index in result.fields.indices where result.fields[index].isNamed("etag") {
      if result.fields[index].value.hasPrefix("\"") {
        result.fields[index].value = "W/" + result.fields[index].value
      }
    }
    return result
  }
}

import NIOHTTP1

extension HTTPParserError {
  /// The problem to refuse the request with, which may have exceeded the limits.
  func problem(_ limits: ConnectionLimits) -> Problem {
    switch self {
    case .headerOverflow:
      Problem(431, "the fields and the target of a request may have \(limits.head) bytes together")
    case .invalidMethod: Problem(501, "the request begins with an unknown method, or is not HTTP/1.1")
    case .invalidVersion: Problem(505, "this service supports HTTP/1.1 and HTTP/1.0 only")
    case .invalidContentLength: Problem(400, "the length of the body is not a number")
    case .unexpectedContentLength: Problem(400, "the request has more than one length of the body")
    case .invalidHeaderToken: Problem(400, "a field of the request is malformed")
    case .invalidChunkSize: Problem(400, "a chunk of the body is malformed")
    case .invalidURL, .invalidHost, .invalidPort, .invalidPath, .invalidQueryString, .invalidFragment:
      Problem(400, "the target of the request is malformed")
    default: Problem(400, "the request is not HTTP/1.1")
    }
  }
}

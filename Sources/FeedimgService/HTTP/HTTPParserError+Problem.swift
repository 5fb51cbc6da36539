import NIOHTTP1

extension HTTPParserError {
  /// Says what is wrong with a request that could not be read.
  ///
  /// - Parameters:
  ///   - limits: How long it may be.
  ///   - beginsWithMethod: Whether it begins as requests do.
  /// - Returns: What to refuse it with.
  func problem(_ limits: ConnectionLimits, beginsWithMethod: Bool) -> Problem {
    switch self {
    case .headerOverflow:
      Problem(431, "the fields and the target of a request may have \(limits.head) bytes together")
    case .invalidMethod where beginsWithMethod: Problem(501, "the method of the request is not known here")
    case .invalidVersion: Problem(505, "HTTP/1.1 and HTTP/1.0 are spoken here, and no other version")
    case .invalidContentLength: Problem(400, "the length of the body is no number")
    case .unexpectedContentLength: Problem(400, "the length of the body is told more than once")
    case .invalidHeaderToken: Problem(400, "a field of the request is malformed")
    case .invalidChunkSize: Problem(400, "a chunk of the body is malformed")
    case .invalidURL, .invalidHost, .invalidPort, .invalidPath, .invalidQueryString, .invalidFragment:
      Problem(400, "the target of the request is malformed")
    default: Problem(400, "that is no HTTP/1.1")
    }
  }
}

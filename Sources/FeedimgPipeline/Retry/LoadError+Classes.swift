package import FeedimgModel

/// The classes of failures, from the network path to the image.
extension LoadError {
  /// Whether a cache counts as disconnected, so that it may reuse a stale response (RFC 9111 §4.2.4).
  var isDisconnection: Bool { [.connection, .unknownHost, .timeout].contains(code) }

  /// Whether a server with a known name sent no response over the current network path.
  package var isSilence: Bool {
    (code == .timeout || code == .connection) && cause != .pathChanged && cause != .connectionRefused
  }

  /// Whether the server is unreachable, or not safely reachable, for any request over the current network path.
  var isUnreachable: Bool {
    switch code {
    case .unknownHost, .connection, .timeout, .security: cause != .pathChanged
    default: false
    }
  }

  /// Whether the failure indicates a problem of the whole origin, not only of one image.
  var isOfWholeOrigin: Bool {
    // RFC 9110 §15.6, RFC 6585 §4 (429).
    isUnreachable || code == .status && [429, 500, 502, 503, 504].contains(status)
  }

  /// Whether a later request may receive the rest of the body.
  var isInterruption: Bool {
    switch code {
    case .cancelled, .truncated, .connection, .timeout, .unavailable: true
    default: false
    }
  }

  /// Whether the same request may succeed a little later.
  ///
  /// Permanent failures, such as status 404 or an exceeded size limit, are not retried.
  var isWorthRetrying: Bool {
    switch code {
    case .connection, .timeout, .truncated, .unknownHost: true
    // RFC 9110 §15.5.9 and §15.6, RFC 8470 §5.2 (425), RFC 6585 §4 (429).
    case .status: [408, 425, 429, 500, 502, 503, 504].contains(status)
    case .tooLarge, .tooManyRedirects, .forbiddenRedirect, .forbiddenAddress, .notAnImage, .security,
      .cancelled, .nothingToShow, .malformed, .invalidPolicy:
      false
    case .unavailable: cause == .shortage
    }
  }

  /// Whether another request in the near future would fail again.
  package var isFinal: Bool {
    switch code {
    case .status: [400, 401, 403, 404, 405, 406, 410, 451].contains(status)
    case .notAnImage, .tooLarge, .tooManyRedirects, .forbiddenRedirect, .forbiddenAddress: true
    default: false
    }
  }
}

extension LoadError.Code {
  /// Whether it concerns the server of the image or the path to it, and not the program that loads it.
  var isOfServer: Bool {
    switch self {
    case .status, .truncated, .tooLarge, .tooManyRedirects, .forbiddenRedirect, .notAnImage, .unknownHost,
      .connection, .timeout, .security, .malformed:
      true
    case .forbiddenAddress, .cancelled, .nothingToShow, .unavailable, .invalidPolicy: false
    }
  }
}

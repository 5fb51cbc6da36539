/// Why an image could not be loaded.
public struct LoadError: Error, Sendable, Hashable {
  /// The kind of failure, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The server sent a response with an error status.
    case status
    /// The body ended before its announced end or the end of its format.
    case truncated
    case tooLarge
    case tooManyRedirects
    /// A redirect led to a scheme other than `http` and `https`, or to no valid URL.
    case forbiddenRedirect
    /// The host is this machine or in a private network, and the program does not allow that.
    case forbiddenAddress
    /// The body is not an image of a known format, or cannot be decoded.
    case notAnImage
    /// The host name could not be resolved.
    case unknownHost
    /// The connection failed or was closed early.
    case connection
    case timeout
    /// The TLS handshake or the certificate check failed.
    case security
    case cancelled
    /// No image is cached, and the policy allows no fetch.
    case nothingToShow
    /// libcurl could not be loaded, or the system has no memory, thread or file descriptor left.
    case unavailable
    /// The response violated HTTP.
    case malformed
    /// The policy that the caller named does not exist or is invalid.
    case invalidPolicy
  }

  /// The kind of failure.
  public var code: Code
  /// The requested URL, if the failure concerns one.
  public var url: ImageURL?
  /// One line, without the URL.
  public var message: String
  /// The status of the response, if there was one.
  public var status: Int?
  /// The value of `Retry-After` in seconds, if the response had one.
  public var retryAfter: Int?
  /// Whether a captive portal probably sent the response.
  public var suspectsCaptivePortal: Bool { cause == .captivePortal }
  /// The decision of the load, if there was one.
  public var resolution: Resolution? {
    get { boxedResolution?.value }
    set { boxedResolution = newValue.map(Boxed.init) }
  }
  /// The cause of the failure; nil if the code says enough.
  package var cause: Cause?
  /// The server that failed, and that of the thumbnail if both images failed; empty before the retry controller
  /// has counted the failure.
  package var servers: [FailedServer] = []

  private var boxedResolution: Boxed<Resolution>?

  package init(
    _ code: Code,
    url: ImageURL? = nil,
    message: String,
    status: Int? = nil,
    retryAfter: Int? = nil
  ) {
    self.code = code
    self.url = url
    self.message = message
    self.status = status
    self.retryAfter = retryAfter
  }
}

extension LoadError {
  /// What caused a failure.
  package enum Cause: Sendable, Hashable {
    /// A captive portal probably sent the response.
    case captivePortal
    /// The response may be stored for this many seconds (`Cache-Control`, `Expires`); zero if it may not be.
    case errorResponse(lifetime: Double)
    /// The server, or a router on the path, refused, reset or closed the connection before a response.
    case connectionRefused
    /// This process lacked a resource that is soon free again, such as a file descriptor.
    case shortage
    /// The network path changed during the transfer, so the failure says nothing about the current path.
    case pathChanged
  }

  /// A server that failed a load.
  package struct FailedServer: Sendable, Hashable {
    package enum Fault: Sendable, Hashable {
      /// Only the image failed; the server works.
      case image
      /// The server responded with an error that probably affects all its images.
      case response
      /// The server sent no response.
      case silence
    }

    /// The circuit breaker of the server.
    package enum Circuit: Sendable, Hashable {
      /// It admits requests.
      case closed
      /// The failure opened it; it admits no requests for a time.
      case open
      /// It was open, so no request was sent.
      case rejected
      /// The feedimg service sends no requests for a time; this process knows no more of it.
      case openInService
    }

    /// Scheme, host and port; those of the target of a redirect, if that failed.
    package var origin: String
    package var circuit: Circuit
    package var fault: Fault

    package init(origin: String, circuit: Circuit, fault: Fault) {
      (self.origin, self.circuit, self.fault) = (origin, circuit, fault)
    }
  }
}

extension LoadError: CustomStringConvertible {
  /// One line with the URL.
  public var description: String { url.map { "`\($0)`: \(message)" } ?? message }
}

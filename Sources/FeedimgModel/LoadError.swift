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
  public var suspectsCaptivePortal = false
  /// The decision of the load, if there was one.
  public var resolution: Resolution? {
    get { boxedResolution?.value }
    set { boxedResolution = newValue.map(Boxed.init) }
  }
  /// The facts by which the retry controller decides whether and when to try again.
  package var retry = RetryFacts()

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
  /// The reason behind a code, where the code alone does not decide whether to try again.
  package enum Reason: Sendable, Hashable {
    /// The server, or a router on the path, refused, reset or closed the connection before a response.
    case refused
    /// This process lacked a resource that is soon free again, such as a file descriptor.
    case shortage
    /// The network path changed during the transfer, so the failure says nothing about the current path.
    case pathChanged
  }

  /// The circuit breaker of the origin that failed.
  package enum Circuit: Sendable, Hashable {
    /// The breaker admits requests.
    case closed
    /// The failure opened the breaker.
    case opened
    /// The breaker was open, so no request was sent.
    case rejected
    /// The breaker of the feedimg service is open; this process knows nothing of it.
    case openInService
  }

  /// The facts of a failure that matter for further attempts.
  package struct RetryFacts: Sendable, Hashable {
    package var reason: Reason?
    package var circuit = Circuit.closed
    /// The origin of the failure, if redirects led away from the origin of the URL.
    package var origin: String?
    /// The number of seconds for which to remember the failure, from `Cache-Control` or `Expires`.
    ///
    /// Zero to ask each time; nil if the response sets no lifetime.
    package var lifetime: Double?
    /// The failure of the thumbnail that replaced a failed original; at most one.
    package var thumbnail: [LoadError] = []

    package init() {}
  }
}

extension LoadError: CustomStringConvertible {
  /// One line with the URL.
  public var description: String { url.map { "`\($0)`: \(message)" } ?? message }
}

/// Why an image could not be loaded.
public struct LoadError: Error, Sendable, Hashable {
  /// What to branch on.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The server answered with a status that is no success.
    case status
    /// The body ended before its announced or structural end.
    case truncated
    case tooLarge
    case tooManyRedirects
    /// A redirect led to a scheme other than `http` and `https`, or to no valid URL.
    case forbiddenRedirect
    /// The host is this machine or on a private network, where the program does not allow that.
    case forbiddenAddress
    /// The body is no known image, or none that can be decoded.
    case notAnImage
    /// The name of the host could not be resolved.
    case unknownHost
    /// No connection, or it broke.
    case connection
    case timeout
    /// The certificate or the handshake was refused.
    case security
    case cancelled
    /// Nothing is cached and nothing may be fetched.
    case nothingToShow
    /// The library that transfers could not be opened, or there is no memory, thread or file descriptor left.
    case unavailable
    /// The answer broke HTTP.
    case malformed
  }

  /// What to branch on.
  public var code: Code
  /// The URL that was asked for, where the failure is about one.
  public var url: ImageURL?
  /// One line in words, without the URL.
  public var message: String
  /// The status, where the server answered with one.
  public var status: Int?
  /// The value of `Retry-After` in seconds, where the server sent one.
  public var retryAfter: Int?
  /// Whether the network itself seems to have answered in place of the server, as one does that wants a login first.
  public var suspectsCaptivePortal = false

  /// Whether somebody refused, reset or ended the connection before an answer, so that something came back.
  ///
  /// That may have been the server, or a router on the way.
  package var wasRefused = false

  /// Whether a router said that there is no way to the host, or after some seconds this machine, as no router answers it.
  package var wasUnreachable = false

  /// Whether this program was short of something that others give back before long, such as descriptors.
  package var isShortage = false

  /// For how many seconds the server wants to be believed that there is no image, by `Cache-Control` or `Expires`.
  ///
  /// Zero where it is to be asked each time; nil where it says nothing.
  package var believedFor: Double?

  /// Whether it is of a transfer that had begun before packets went another way, and says nothing of the way they go now.
  package var isOfOldPath = false

  /// The server that it is about, where redirects have led to another than that of ``url``.
  package var origin: String?

  /// Whether nobody was asked, as the server is left alone for what it was asked before; it says nothing of the image.
  package var isRefusal = false

  /// Whether its server was left alone from then on, as it had failed again and again.
  package var isOfLeftAlone = false

  /// Whether a service met with it, so that whom it leaves alone is not known here.
  package var isOfService = false

  /// What befell the thumbnail that was to stand in for the original, if that failed as well; one at most.
  package var ofThumbnail: [LoadError] = []

  /// The decision that the load followed, where there was one.
  public var resolution: Resolution?

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

extension LoadError: CustomStringConvertible {
  /// One line with the URL.
  public var description: String { url.map { "`\($0)`: \(message)" } ?? message }
}

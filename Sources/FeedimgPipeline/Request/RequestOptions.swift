public import FeedimgModel
import Glibc

/// How a loader sends its requests for images.
public struct RequestOptions: Sendable {
  /// The header fields to send to an origin, such as `["https://x.example": ["Authorization": "Bearer …"]]`.
  ///
  /// After a redirect to another origin, the loader sends none of them.
  public var headers: [String: [String: String]] = [:]
  /// Changes the header fields of each request; called on any thread, and also to look up the cache.
  ///
  /// It must return soon. After a redirect to another origin, the loader sends none of its fields.
  public var modify: (@Sendable (inout ImageRequest) -> Void)?
  /// The account on whose behalf the program sends its fields, such as `@ann@x.example`.
  ///
  /// Accounts never share cached images that were requested with the program's fields. If nil, the values of
  /// `Authorization` and `Cookie` separate them, so that a new token starts with an empty cache. Other fields
  /// separate images only if the response names them in `Vary`.
  public var account: String?
  /// A PEM file of the authorities to trust instead of the system's.
  public var certificateFile: String?
  /// The certificate of the program, for servers that ask for one.
  public var clientCertificate: ClientCertificate?
  /// The proxy, such as `socks5h://127.0.0.1:9050`; empty for none, nil for that of the environment.
  public var proxy: String?
  /// The time limits of each request.
  public var timeouts = RequestTimeouts()
  /// The most downloads that may start in a second from one host; nil for no limit.
  public var downloadsPerSecond: Double?

  /// Makes the default options: no fields, the system's authorities, the proxy of the environment.
  public init() {}

  /// The least time between two downloads from a host.
  var interval: Duration { downloadsPerSecond.map { .seconds(1 / $0) } ?? .zero }

  /// Whether a service would send the same requests, as far as connections are concerned.
  package var usesUsualConnections: Bool {
    certificateFile == nil && clientCertificate == nil && proxy == nil
  }
}

/// A client certificate (RFC 8446 §4.4.2), which only some origins receive.
public struct ClientCertificate: Sendable, Hashable {
  /// The origins that may ask for it, such as `https://x.example`.
  public var origins: [String]
  /// A PEM file with the certificate.
  public var file: String
  /// A PEM file with the private key; nil if ``file`` has it too.
  public var keyFile: String?

  /// - Parameters:
  ///   - origins: The origins that may ask for it, such as `https://x.example`.
  ///   - file: A PEM file with the certificate.
  ///   - keyFile: A PEM file with the private key; nil if `file` has it too.
  public init(origins: [String], file: String, keyFile: String? = nil) {
    self.origins = origins
    self.file = file
    self.keyFile = keyFile
  }
}

/// The time limits of one request.
///
/// The attempts of a load that time out without progress take at most 30 seconds together.
public struct RequestTimeouts: Sendable, Hashable {
  /// The time for name resolution, connection and handshake; 10 seconds by default.
  public var connect = Duration.seconds(10)
  /// The time from the sent request to the first byte of the response; 20 seconds by default.
  public var response = Duration.seconds(20)
  /// The longest pause within a response; 20 seconds by default.
  public var stall = Duration.seconds(20)
  /// The time for the whole transfer, which limits servers that send a byte now and then; 600 seconds by
  /// default.
  public var total = Duration.seconds(600)

  /// Makes the default limits.
  public init() {}
}

/// The header fields that the program adds to a request for an image.
public struct ImageRequest: Sendable, Hashable {
  /// The URL of the image.
  public let url: ImageURL
  var fields: HTTPFields

  /// The value of a header field of the program; nil removes it.
  ///
  /// The loader leaves out invalid names, and the fields that it sets itself: those of the connection, ranges,
  /// conditions and `Accept-Encoding`. Control characters in values become spaces.
  public subscript(header name: String) -> String? {
    get { fields[name] }
    set {
      fields.fields.removeAll { $0.isNamed(name) }
      if let newValue { fields.fields.append(.init(name: name, value: newValue)) }
    }
  }

  /// The fields that belong to feedimg, in lower case.
  static let reserved: Set<String> = [
    "accept-encoding", "connection", "content-length", "expect", "host", "if-match", "if-modified-since",
    "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "proxy-authorization", "range",
    "save-data", "te", "trailer", "transfer-encoding", "upgrade",
  ]
}

extension RequestOptions {
  /// The errors in the options, one line each.
  var faults: [String] {
    var faults: [String] = []
    for (origin, fields) in headers.sorted(by: { $0.key < $1.key }) {
      if Self.origin(origin) == nil { faults.append("requests.headers: \(Self.expectedOrigin(origin))") }
      for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
        if let fault = Self.fault(of: name, value) { faults.append("requests.headers: \(fault)") }
      }
    }
    for origin in clientCertificate?.origins ?? [] where Self.origin(origin) == nil {
      faults.append("requests.clientCertificate: \(Self.expectedOrigin(origin))")
    }
    let files = [certificateFile, clientCertificate?.file, clientCertificate?.keyFile].compactMap { $0 }
    for file in files where access(file, R_OK) != 0 { faults.append("requests: cannot read `\(file)`") }
    let limits = [timeouts.connect, timeouts.response, timeouts.stall, timeouts.total]
    if limits.contains(where: { $0 <= .zero }) {
      faults.append("requests.timeouts: expected durations above 0")
    }
    if let rate = downloadsPerSecond, !(0.001...1_000_000).contains(rate) {
      faults.append("requests.downloadsPerSecond: expected a number from 0.001 to 1000000")
    }
    return faults
  }

  /// Why a program may not send a header field; nil if it may.
  package static func fault(of name: String, _ value: String) -> String? {
    if ImageRequest.reserved.contains(name.lowercased()) { return "feedimg sets `\(name)` itself" }
    guard !HTTPFields.Field(name: name, value: value).isWellFormed else { return nil }
    return "`\(name)` has an invalid name or value"
  }

  /// The origin that a text names, in the form of ``ImageURL/origin``; nil if it names none.
  static func origin(_ text: String) -> String? {
    guard let url = try? ImageURL(text), url.key == url.origin + "/" else { return nil }
    return url.origin
  }

  private static func expectedOrigin(_ text: String) -> String {
    "expected an origin such as `https://x.example`, found `\(ImageURL.withoutCredentials(text))`"
  }
}

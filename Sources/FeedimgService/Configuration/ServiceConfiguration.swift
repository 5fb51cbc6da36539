public import Feedimg
public import FeedimgFeeds
import FeedimgModel

/// The addresses and the loader of the service.
public struct ServiceConfiguration: Sendable {
  /// The Unix socket; nil for `feedimg.sock` in `$XDG_RUNTIME_DIR`, or for none where there is a ``port``.
  public var socket: String?
  /// The port of 127.0.0.1 to listen on, zero for any; nil to listen on the Unix socket alone.
  public var port: Int?
  /// Whether clients over TCP need the token.
  public var needsToken = true
  /// Whether clients may use URLs on this machine and on private networks.
  public var allowsPrivateHosts = false
  /// The header fields, in lower case, that clients of `/v1/image` may send to the server of an image.
  public var forwardedHeaders: [String] = []
  /// A file with the items of the feed that the page shows; nil for none.
  public var items: String?
  /// How to read ``items``: the format, the base of its URLs, and whether an invalid item refuses the file.
  public var feed = FeedReader()
  /// Whether to replace the token of the gateway instead of serving.
  public var replacesGatewayToken = false
  /// The gateway for unchanged clients; nil for none.
  var gateway: GatewayOption?
  /// The configuration of the loader.
  public var loader: ImageLoader.Configuration

  /// The default configuration: the Unix socket of the user.
  ///
  /// - Parameter loader: Its environment also names the folder of the socket and the sockets of the service manager.
  public init(_ loader: ImageLoader.Configuration = ImageLoader.Configuration()) { self.loader = loader }

  /// Reads the options of the command, each in the form `--name=value`.
  ///
  /// - Parameter arguments: The arguments without the name of the program.
  /// - Throws: ``ServiceError`` for an invalid option.
  public init(arguments: [String]) throws(ServiceError) {
    self.init()
    for argument in arguments {
      let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let (name, value) = (String(sides[0]), sides.count > 1 ? String(sides[1]) : nil)
      switch (name, value) {
      case ("--no-token", nil): needsToken = false
      case ("--allow-private", nil): allowsPrivateHosts = true
      case ("--strict", nil): feed.isStrict = true
      case (_, nil): throw .usage("`\(name)` is not an option with a value")
      case (_, let value?): try set(name, value)
      }
    }
  }

  private mutating func set(_ name: String, _ value: String) throws(ServiceError) {
    switch name {
    case "--socket": socket = value
    case "--port":
      guard let number = UInt16(value) else {
        throw .usage("--port takes a number from 0 to 65535, not `\(value)`")
      }
      port = Int(number)
    case "--items": items = value
    case "--gateway": gateway = try GatewayOption(value)
    case "--gateway-token":
      guard value == "new" else { throw .usage("--gateway-token takes `new`, not `\(value)`") }
      replacesGatewayToken = true
    case "--forward-header": try forward(value)
    case "--from":
      do throws(FeedError) {
        feed.format = try FeedFormat.named(value)
      } catch {
        throw .usage("--from: \(error)")
      }
    case "--base":
      guard let url = try? ImageURL(value) else { throw .usage("--base takes an http or https URL") }
      feed.base = url
    case "--cache-dir": loader.cacheFolder = value
    case "--config-dir": loader.configurationFolder = value
    case "--state-dir": loader.stateFolder = value
    case "--policy": loader.policy = .named(value)
    case "--network", "--metered":
      loader.overrides.append(
        SituationOverride(fact: String(name.dropFirst(2)), value: value, source: name)
      )
    case "--set":
      guard let fact = SituationOverride(pair: value, source: name) else {
        throw .usage("--set \(value): expected a fact and its value, such as `always-original=yes`")
      }
      loader.overrides.append(fact)
    case "--declare":
      guard let fact = HostFact(pair: value) else {
        throw .usage("--declare \(value): expected a fact and its values, such as `on-screen=no,yes`")
      }
      loader.hostFacts.append(fact)
    default: throw .usage("unknown option `\(name)`")
    }
  }

  private mutating func forward(_ name: String) throws(ServiceError) {
    let lower = name.lowercased()
    let isOurs = ["cache-control", "priority"].contains(lower) || lower.hasPrefix("feedimg-")
    let fault = isOurs ? "the service uses `\(name)` itself" : RequestOptions.fault(of: name, "")
    if let fault { throw .usage("--forward-header: \(fault)") }
    forwardedHeaders.append(lower)
  }
}

extension ServiceConfiguration {
  /// The path of the Unix socket.
  func socketPath() throws(ServiceError) -> String {
    if let socket {
      guard !socket.isEmpty else { throw .usage("--socket takes a path, found none") }
      return socket
    }
    guard let folder = loader.environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else {
      throw .usage(
        "no folder for the socket: $XDG_RUNTIME_DIR is not set; use --socket PATH or --port NUMBER"
      )
    }
    return "\(folder)/feedimg.sock"
  }
}

/// The value of `--gateway`: the server whose clients use the gateway.
struct GatewayOption: Sendable, Hashable {
  /// The server of the Mastodon API, such as `https://mastodon.example`, without a path; nil for none.
  let mastodon: String?

  /// Reads `pictures` or `mastodon=URL`.
  init(_ text: String) throws(ServiceError) {
    if text == "pictures" {
      mastodon = nil
      return
    }
    let expected = "expected `pictures`, or a server such as `mastodon=https://mastodon.example`"
    guard text.hasPrefix("mastodon=") else {
      throw .usage("--gateway \(text): \(expected)")
    }
    var address = String(text.dropFirst("mastodon=".count))
    while address.hasSuffix("/") { address.removeLast() }
    guard let url = try? ImageURL(address), let scheme = address.firstRange(of: "://"),
      address[scheme.upperBound...].allSatisfy({ !"/?#@".contains($0) }), !url.host.isEmpty
    else { throw .usage("--gateway \(text): \(expected)") }
    mastodon = address
  }
}

/// The reason that the service cannot start.
public struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line for the user.
  public var message: String
  /// Whether the request of the user is invalid, so that another attempt would fail too.
  public var isUsage: Bool

  init(_ message: String, isUsage: Bool = false) {
    self.message = message
    self.isUsage = isUsage
  }

  /// An invalid request of the user.
  static func usage(_ message: String) -> ServiceError { ServiceError(message, isUsage: true) }

  /// The message.
  public var description: String { message }
}

public import Feedimg
import FeedimgJSON
import FeedimgModel
package import FeedimgSystem
import Glibc

/// The gateway of the user's running service, which describes itself in a file beside its token.
public struct GatewayStatus: Sendable, Hashable {
  /// The address for clients, such as `http://127.0.0.1:8080`; nil if the service listens on no port.
  public var address: String?
  /// The server of the Mastodon API behind the gateway; nil for none.
  public var server: String?
  /// The token for feeds and pictures; nil if there is none.
  public private(set) var token: String?

  /// The status that a service writes.
  package init(address: String?, server: String?) { (self.address, self.server) = (address, server) }

  /// Reads the status of the latest service with a gateway.
  ///
  /// Nil if none is running. After a crash, the status remains; ``isReached`` is then false.
  public init?(_ configuration: ImageLoader.Configuration = ImageLoader.Configuration()) {
    guard let folder = try? Folders(configuration).configuration,
      let bytes = try? AtomicFile(Self.path(in: folder)).content(),
      case .object(let object)? = try? JSONReader.value(in: bytes)
    else { return nil }
    self.init(address: object["address"]?.text, server: object["server"]?.text)
    let text = try? AtomicFile(Self.tokenPath(in: folder)).content()
    token = text.map { String(decoding: $0.prefix { $0 != 0x0A }, as: UTF8.self) }
  }

  /// The path of the status in the folder of the settings.
  package static func path(in folder: String) -> String { "\(folder)/gateway.json" }

  /// The path of the token in the folder of the settings.
  package static func tokenPath(in folder: String) -> String { "\(folder)/gateway-token" }

  private var text: [UInt8] {
    let value: JSONValue = ["address": .optional(address), "server": .optional(server)]
    return Array((value.text(.compact) + "\n").utf8)
  }

  /// Whether the file in the folder of the settings has this status.
  package func isWritten(to folder: String) -> Bool {
    (try? AtomicFile(Self.path(in: folder)).content()) == text
  }

  /// Writes the status to the folder of the settings.
  package func write(to folder: String) throws(FileError) {
    let bytes = text
    try AtomicFile(Self.path(in: folder)).locked { file throws(FileError) in try file.replace(with: bytes) }
  }

  /// Whether the gateway responds now.
  ///
  /// Waits for at most two seconds.
  public var isReached: Bool { address.flatMap(GatewayProbe.status(of:)) == 204 }
}

extension GatewayStatus {
  /// A setting of clients that use the gateway.
  public struct Client: Sendable, Hashable {
    /// The kind of client, such as `Mastodon clients`.
    public var name: String
    /// The name of the setting.
    public var setting: String
    /// The value to enter.
    public var value: String
    /// A command that shows whether it works.
    public var check: String
  }

  /// The settings of all clients that the gateway serves; none without an address.
  public var clients: [Client] {
    guard let address else { return [] }
    var clients: [Client] = []
    func add(_ name: String, _ setting: String, _ value: String, _ check: String) {
      clients.append(Client(name: name, setting: setting, value: value, check: check))
    }
    if server != nil { add("Mastodon clients", "server", address, "curl -s \(address)/api/v1/instance") }
    if let token {
      let base = "\(address)/g/\(token)"
      let status = "curl -s -o /dev/null -w '%{http_code}\\n'"
      let picture = Base64.encodeForURL("https://www.debian.org/logos/openlogo-nd-50.png".utf8)
      let feed = "curl -sI \(base)/feed/https://planet.debian.org/rss20.xml"
      add("feed readers", "feed, with its own address at the end", "\(base)/feed/", feed)
      let miniflux = "MEDIA_PROXY_CUSTOM_URL, with MEDIA_PROXY_MODE=all"
      add("Miniflux", miniflux, base, "\(status) \(base)/\(picture)")
      let freshRSS = "proxy URL of the extension Image Proxy, with URL encoding"
      let check = "\(status) '\(base)/fetch?url=https%3A%2F%2Fwww.debian.org%2F'"
      add("FreshRSS", freshRSS, "\(base)/fetch?url=", check)
    }
    return clients
  }

  /// The status as one line of JSON.
  public func json(isReached: Bool) -> String {
    let clients = clients.map { client -> JSONValue in
      [
        "name": .string(client.name), "setting": .string(client.setting), "value": .string(client.value),
        "check": .string(client.check),
      ]
    }
    let value: JSONValue = [
      "reached": .bool(isReached), "address": .optional(address), "server": .optional(server),
      "clients": .array(clients),
    ]
    return value.text(.compact)
  }
}

/// One request to a gateway on this machine, without the start of libcurl.
enum GatewayProbe {
  /// The status of a response to a request for the methods of `/g/`; nil without one.
  static func status(of address: String) -> Int? {
    guard let scheme = address.firstRange(of: "://"), let colon = address.lastIndex(of: ":"),
      colon > scheme.upperBound
    else { return nil }
    let authority = address[scheme.upperBound...]
    let host = authority[..<colon].filter { !"[]".contains($0) }
    guard let descriptor = connect(to: host, port: String(address[address.index(after: colon)...])) else {
      return nil
    }
    defer { close(descriptor) }
    let request = Array("OPTIONS /g/ HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_WAITALL))
    let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    return words.first == "HTTP/1.1" && words.count > 1 ? Int(words[1]) : nil
  }

  private static func connect(to host: String, port: String) -> Int32? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    // No name is looked up.
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, port, &hints, &found) == 0, let found else { return nil }
    defer { freeaddrinfo(found) }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(found.pointee.ai_family, kind, 0)
    guard descriptor >= 0 else { return nil }
    var limit = timeval(tv_sec: 2, tv_usec: 0)
    for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    guard Glibc.connect(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }
}

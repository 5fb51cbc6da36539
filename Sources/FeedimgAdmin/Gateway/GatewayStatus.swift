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
    let text = try? AtomicFile("\(folder)/gateway-token").content()
    token = text.map { String(decoding: $0.prefix { $0 != 0x0A }, as: UTF8.self) }
  }

  /// The path of the status in the folder of the settings.
  package static func path(in folder: String) -> String { "\(folder)/gateway.json" }

  private var text: [UInt8] {
    let value: JSONValue = ["address": .optional(address), "server": .optional(server)]
    return Array((value.text(.compact) + "\n").utf8)
  }

  /// Whether the file in the folder of the settings has this status.
  package func isWritten(to folder: String) -> Bool {
    (try? AtomicFile(Self.path(in: folder)).content()) == text
  }

  /// Writes the status to the folder of the settings.
  package func write(to folder: String) throws(FileFault) {
    let bytes = text
    try AtomicFile(Self.path(in: folder)).locked { file throws(FileFault) in try file.replace(with: bytes) }
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

import FeedimgHTTPCache
import FeedimgModel
import Glibc
import NIOCore

/// The access rule of a connection.
enum AccessRule: Sendable, Hashable {
  /// The Unix socket, by a process of the user of the service.
  case sameUser
  /// The Unix socket, by a process of another user.
  case otherUser(UInt32)
  /// Loopback TCP, which any process and any web page on this machine can reach.
  ///
  /// A request needs the token, if there is one. A page that reaches the service by its own host name is always refused.
  case loopback(port: Int, token: AccessToken?)

  /// The reason to refuse a request, which needs no token for a public resource; nil if it is allowed.
  func rejection(of fields: HTTPFields, isPublic: @autoclosure () -> Bool = false) -> Problem? {
    switch self {
    case .sameUser: nil
    case .otherUser(let user): Problem(403, "this service belongs to another user; you are user \(user)")
    case .loopback(let port, let token):
      Self.rejection(of: fields, port: port, token: token == nil || isPublic() ? nil : token)
    }
  }

  /// The fields of a request without the credentials for this service, which no other server may get.
  func withoutCredentials(_ fields: HTTPFields) -> HTTPFields {
    guard case .loopback = self else { return fields }
    return HTTPFields(fields.fields.filter { !$0.isCredential })
  }

  /// The fields of a request without the token of this service, which a client may send to a wrong path.
  func withoutToken(_ fields: HTTPFields) -> HTTPFields {
    guard case .loopback(_, let token?) = self else { return fields }
    return HTTPFields(fields.fields.filter { !$0.isNamed("authorization") || !Self.has(token, $0.value) })
  }

  /// Whether a value of `Authorization` is a token.
  private static func has(_ token: AccessToken, _ authorization: String) -> Bool {
    let words = authorization.split(separator: " ", maxSplits: 1)
    return words.count == 2 && words[0].lowercased() == "bearer" && token.isEqual(to: words[1].trimmed)
  }

  private static func rejection(of fields: HTTPFields, port: Int, token: AccessToken?) -> Problem? {
    // Any host name can resolve to this machine (DNS rebinding).
    guard let host = fields["Host"], isOwn(host, port: port) else {
      let host = fields["Host"].map { "`\($0)`" } ?? "none"
      return Problem(403, "expected the host `127.0.0.1:\(port)` or `localhost:\(port)`, found \(host)")
    }
    if let origin = fields["Origin"] {
      guard origin.hasPrefix("http://"), isOwn(String(origin.dropFirst(7)), port: port) else {
        return Problem(403, "a page of `\(origin)` may not use this service")
      }
    } else if let site = fields["Sec-Fetch-Site"], site != "same-origin", site != "none" {
      return Problem(403, "a page of another site may not use this service")
    }
    guard let token else { return nil }
    guard let given = fields["Authorization"] else {
      return Problem(
        401,
        "expected the service's token, as `Authorization: Bearer …`",
        fields: [("WWW-Authenticate", "Bearer")]
      )
    }
    guard has(token, given) else {
      return Problem(
        401,
        "the token is not the token of this service",
        fields: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")]
      )
    }
    return nil
  }

  /// Whether an authority is a name of this machine that no DNS server can assign to another one.
  private static func isOwn(_ authority: String, port: Int) -> Bool {
    let own = ["127.0.0.1", "localhost", "[::1]"]
    let lower = authority.lowercased()
    return own.contains { lower == "\($0):\(port)" || (port == 80 && lower == $0) }
  }
}

extension AccessRule {
  /// The kernel's `struct ucred` (unix(7)).
  private struct Credentials {
    var process: Int32 = 0
    var user: UInt32 = .max
    var group: UInt32 = .max
  }

  /// The access rule of a new connection; fails where the kernel does not name the user.
  static func rule(of channel: any Channel, token: AccessToken?) -> EventLoopFuture<AccessRule> {
    if let port = channel.localAddress?.port {
      return channel.eventLoop.makeSucceededFuture(.loopback(port: port, token: token))
    }
    guard let provider = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
      level: .socket,
      name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
    )
    return credentials.map { $0.user == geteuid() ? .sameUser : .otherUser($0.user) }
  }
}

import FeedimgModel

/// Who may ask, over one kind of connection.
enum AccessRule: Sendable, Hashable {
  /// Over the Unix socket, by a process of the user who runs the service.
  case sameUser
  /// Over the Unix socket, by somebody else.
  case stranger(user: UInt32)
  /// Over loopback TCP, where any process and any web page of the machine could try.
  ///
  /// With a token, who does not bring it is refused; a page that was led here by a name of its own is refused always.
  case loopback(port: Int, token: AccessToken?)

  /// Whether a request may pass.
  ///
  /// - Parameters:
  ///   - fields: Those of the request.
  ///   - isPublic: Whether it asks for what is no secret, so that no token is needed.
  /// - Returns: Why it is refused, or nil.
  func objection(to fields: HTTPFields, isPublic: Bool = false) -> Problem? {
    switch self {
    case .sameUser: nil
    case .stranger(let user): Problem(403, "this service is another user's; you are user \(user)")
    case .loopback(let port, let token): Self.objection(to: fields, port: port, token: isPublic ? nil : token)
    }
  }

  /// The fields of a request without those that are for this service alone, and must not reach another server.
  func withoutOwn(_ fields: HTTPFields) -> HTTPFields {
    guard case .loopback = self else { return fields }
    return HTTPFields(fields.fields.filter { !$0.isNamed("authorization") && !$0.isNamed("cookie") })
  }

  private static func objection(to fields: HTTPFields, port: Int, token: AccessToken?) -> Problem? {
    // A name that resolves to this machine is no proof of being meant (DNS rebinding).
    guard let host = fields["Host"], isOwn(host, port: port) else {
      let host = fields["Host"].map { "`\($0)`" } ?? "none"
      return Problem(403, "expected the host `127.0.0.1:\(port)` or `localhost:\(port)`, found \(host)")
    }
    if let origin = fields["Origin"] {
      guard origin.hasPrefix("http://"), isOwn(String(origin.dropFirst(7)), port: port) else {
        return Problem(403, "a page of `\(origin)` may not ask this service")
      }
    } else if let site = fields["Sec-Fetch-Site"], site != "same-origin", site != "none" {
      return Problem(403, "a page of another site may not ask this service")
    }
    guard let token else { return nil }
    guard let given = fields["Authorization"] else {
      return Problem(
        401,
        "expected the service's token, as `Authorization: Bearer …`",
        fields: [("WWW-Authenticate", "Bearer")]
      )
    }
    let words = given.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer", token.isEqual(to: words[1].trimmed) else {
      return Problem(
        401,
        "that is not the service's token",
        fields: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")]
      )
    }
    return nil
  }

  /// Whether an authority is this machine by a name that nobody else can give out.
  private static func isOwn(_ authority: String, port: Int) -> Bool {
    let own = ["127.0.0.1", "localhost", "[::1]"]
    let lower = authority.lowercased()
    return own.contains { lower == "\($0):\(port)" || (port == 80 && lower == $0) }
  }
}

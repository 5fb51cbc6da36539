import FeedimgModel

/// The header fields that pass through a gateway (RFC 9110 §7.6.1).
struct GatewayFields {
  /// The server behind the gateway, such as `https://mastodon.example`.
  let origin: String
  /// The address of the gateway as the client wrote it.
  let base: String
  /// The mark in the entity tags of changed documents.
  let mark: String

  /// The fields to send to the server.
  func forServer(_ fields: HTTPFields) -> HTTPFields {
    // libcurl sets the host and the length, and this gateway reads no content coding.
    let own = ["host", "content-length", "expect", "accept-encoding", "origin", "referer"]
    var result = fields.endToEnd { own.contains($0) }
    for index in result.fields.indices where result.fields[index].isNamed("if-none-match") {
      result.fields[index].value.replace("-\(mark)\"", with: "\"")
    }
    result.fields.append(HTTPFields.Field(name: "Via", value: "1.1 feedimg"))
    return result
  }

  /// The fields to send to the client, without the length of the body.
  ///
  /// URLs of the server in `Link` and `Location` lead back through the gateway.
  func forClient(_ fields: HTTPFields) -> HTTPFields {
    var result = fields.endToEnd { ["content-length", "alt-svc", "strict-transport-security"].contains($0) }
    for index in result.fields.indices {
      let field = result.fields[index]
      if field.isNamed("link") {
        result.fields[index].value.replace("<\(origin)/", with: "<\(base)/")
      } else if field.isNamed("location"), field.value.hasPrefix("\(origin)/") {
        result.fields[index].value = base + field.value.dropFirst(origin.count)
      }
    }
    return result
  }

  /// The fields of a changed document: its tag is not that of the server, and digests no longer match.
  func forChanged(_ fields: HTTPFields) -> HTTPFields {
    let stale = ["last-modified", "accept-ranges", "content-md5", "digest", "content-digest", "repr-digest"]
    return marked(HTTPFields(fields.fields.filter { field in !stale.contains { field.isNamed($0) } }))
  }

  /// The fields with the mark in the entity tag.
  func marked(_ fields: HTTPFields) -> HTTPFields {
    var result = fields
    for index in result.fields.indices where result.fields[index].isNamed("etag") {
      guard result.fields[index].value.hasSuffix("\"") else { continue }
      result.fields[index].value = result.fields[index].value.dropLast() + "-\(mark)\""
    }
    return result
  }
}

extension HTTPFields {
  /// The fields without those of the connection, and without others.
  ///
  /// - Parameter isLeftOut: Whether to leave out a field with this name in lower case.
  /// - Returns: The remaining fields in their order.
  func endToEnd(without isLeftOut: (String) -> Bool) -> HTTPFields {
    let listed = (self["Connection"] ?? "").split(separator: ",").map { $0.trimmed.lowercased() }
    let hop = [
      "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-authentication-info",
      "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    return HTTPFields(
      fields.filter { field in
        let name = field.name.lowercased()
        return !hop.contains(name) && !listed.contains(name) && !isLeftOut(name)
      }
    )
  }
}

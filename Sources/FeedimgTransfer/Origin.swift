import FeedimgModel

/// What credentials are bound to: scheme, host and port (RFC 6454 §4).
struct Origin: Hashable {
  var scheme: String
  var host: String
  var port: Int

  init(_ url: ImageURL) {
    // The key has the shape `scheme://[user@]host[:port]/…`, everything in lower case and checked.
    let parts = url.key.split(separator: ":", maxSplits: 1)
    scheme = String(parts[0])
    host = url.host
    let authority = parts[1].dropFirst(2).prefix { $0 != "/" && $0 != "?" }
    // What follows the last colon of a bare IPv6 address is no number, as it ends with the bracket.
    let portText = authority.lastIndex(of: ":").map { authority[authority.index(after: $0)...] }
    port = portText.flatMap { Int($0) } ?? (scheme == "http" ? 80 : 443)
  }

  /// Whether a field must not go to another origin than the one it was meant for.
  static func binds(_ field: HTTPFields.Field) -> Bool {
    field.isNamed("authorization") || field.isNamed("cookie") || field.isNamed("proxy-authorization")
  }
}

package import FeedimgModel

/// A client certificate and the origins that receive it.
package struct ClientKey: Sendable {
  let origins: Set<Origin>
  let file: String
  let keyFile: String

  /// - Parameters:
  ///   - origins: URLs of the origins.
  ///   - file: A PEM file with the certificate.
  ///   - keyFile: A PEM file with the private key.
  package init(origins: [ImageURL], file: String, keyFile: String) {
    self.origins = Set(origins.map(Origin.init))
    self.file = file
    self.keyFile = keyFile
  }
}

/// Scheme, host and port of a URL (RFC 6454 §4); credentials are sent to one origin only.
struct Origin: Hashable, Sendable {
  var scheme: String
  var host: String
  var port: Int

  init(_ url: ImageURL) {
    // The key has the form `scheme://host[:port]/…`, validated and in lower case.
    let parts = url.key.split(separator: ":", maxSplits: 1)
    scheme = String(parts[0])
    host = url.host
    let authority = parts[1].dropFirst(2).prefix { $0 != "/" && $0 != "?" }
    // An IPv6 address without a port ends with `]`, so the text after its last colon is not a number.
    let portText = authority.lastIndex(of: ":").map { authority[authority.index(after: $0)...] }
    port = portText.flatMap { Int($0) } ?? (scheme == "http" ? 80 : 443)
  }

  /// Whether a field holds credentials, which must not be sent to another origin.
  static func binds(_ field: HTTPFields.Field) -> Bool {
    field.isNamed("authorization") || field.isNamed("cookie") || field.isNamed("proxy-authorization")
  }
}

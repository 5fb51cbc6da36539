import FeedimgModel

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

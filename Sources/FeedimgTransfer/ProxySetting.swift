import FeedimgModel
import FeedimgSystem
import Glibc

/// The proxy that libcurl reads from the environment; error messages name it.
struct ProxySetting: Hashable {
  /// The environment variable that sets the proxy.
  let variable: String
  /// Host and port, without user name and password.
  let place: String
  private let host: String

  /// The proxy for the scheme of a URL, by the values of environment variables; nil if there is none.
  init?(for url: ImageURL, _ variable: (String) -> String?) {
    let scheme = url.isSecure ? "https" : "http"
    // libcurl ignores `HTTP_PROXY`, because a `Proxy` request field sets it in CGI programs (libcurl-env(3)).
    let names = ["\(scheme)_proxy"] + (scheme == "http" ? [] : ["HTTPS_PROXY"]) + ["all_proxy", "ALL_PROXY"]
    guard let name = names.first(where: { variable($0)?.isEmpty == false }), let value = variable(name) else {
      return nil
    }
    let authority = (value.split(separator: "://", maxSplits: 1).last ?? "").prefix { $0 != "/" }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let host =
      place.hasPrefix("[") ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
    (self.variable, self.place, self.host) = (name, String(place), String(host))
  }

  /// The proxy in the environment of this process.
  static func current(for url: ImageURL) -> ProxySetting? {
    ProxySetting(for: url) { getenv($0).map { String(cString: $0) } }
  }

  /// Whether an address may be the proxy's; always true if a host name sets the proxy, since it is not
  /// resolved.
  func mayBe(_ address: IPAddress) -> Bool { IPAddress(host).map { $0 == address } ?? true }

  /// The error for a proxy that the policy forbids.
  func refusal(for url: ImageURL) -> LoadError {
    LoadError(
      .forbiddenAddress,
      url: url,
      message:
        "the proxy `\(place)` of $\(variable) is on this machine or on a private network, which is not "
        + "allowed; allow it with `feedimg serve --allow-private`, or unset $\(variable)"
    )
  }
}

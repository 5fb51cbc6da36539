import FeedimgModel
import FeedimgSystem

/// The proxy that libcurl may use for a URL; error messages name it.
///
/// libcurl does not report whether it uses the proxy, and `no_proxy` may except the host.
struct ProxySetting: Hashable {
  /// The environment variable that sets the proxy; nil if the program does.
  let variable: String?
  /// Host and port, without user name and password.
  let place: String
  private let host: String

  /// The proxy for the scheme of a URL; nil if there is none.
  ///
  /// - Parameters:
  ///   - url: The URL to request.
  ///   - chosen: The proxy that the program chooses; empty for none, nil for that of the environment.
  ///   - variable: The value of an environment variable.
  init?(for url: ImageURL, chosen: String?, _ variable: (String) -> String?) {
    if let chosen {
      guard !chosen.isEmpty else { return nil }
      self.init(chosen, variable: nil)
      return
    }
    let scheme = url.isSecure ? "https" : "http"
    // libcurl ignores `HTTP_PROXY`, because a `Proxy` request field sets it in CGI programs (libcurl-env(3)).
    let names = ["\(scheme)_proxy"] + (scheme == "http" ? [] : ["HTTPS_PROXY"]) + ["all_proxy", "ALL_PROXY"]
    guard let name = names.first(where: { variable($0)?.isEmpty == false }), let value = variable(name) else {
      return nil
    }
    self.init(value, variable: name)
  }

  private init(_ value: String, variable: String?) {
    let authority = (value.split(separator: "://", maxSplits: 1).last ?? "").prefix { $0 != "/" }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let host =
      place.hasPrefix("[") ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
    (self.variable, self.place, self.host) = (variable, String(place), String(host))
  }

  /// The error for an address that the policy forbids; nil if it cannot be that of the proxy.
  func refusal(of address: IPAddress, for url: ImageURL) -> LoadError? {
    // A name is not resolved here, so the address may be the proxy's or the host's.
    let isKnown = IPAddress(host) != nil
    guard !isKnown || IPAddress(host) == address else { return nil }
    let proxy = "the proxy `\(place)`" + (variable.map { " of $\($0)" } ?? "")
    return LoadError(
      .forbiddenAddress,
      url: url,
      message: (isKnown ? proxy : "the host `\(url.host)` or \(proxy)")
        + " is on this machine or on a private network, which is not allowed; allow it with `feedimg serve "
        + "--allow-private`" + (variable.map { ", or unset $\($0)" } ?? "")
    )
  }
}

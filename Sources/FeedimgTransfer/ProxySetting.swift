import FeedimgModel
import Glibc

/// The proxy that libcurl takes from the environment of the process, as error messages name it.
struct ProxySetting: Hashable {
  /// The variable that names it.
  let variable: String
  /// Host and port, without a user.
  let place: String
  private let host: String

  /// The proxy for a scheme; nil where there is none.
  ///
  /// - Parameters:
  ///   - url: The URL of the request.
  ///   - variable: The value of a variable of the environment.
  init?(for url: ImageURL, _ variable: (String) -> String?) {
    let scheme = Origin(url).scheme
    // In capitals the first could be made by a field of a request to a CGI program (libcurl-env(3)).
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

  /// The one of this process.
  static func current(for url: ImageURL) -> ProxySetting? {
    ProxySetting(for: url) { getenv($0).map { String(cString: $0) } }
  }

  /// Whether a connection to an address may be one to the proxy: names are not resolved for that.
  func mayBe(_ address: HostAddress) -> Bool { HostAddress(host).map { $0 == address } ?? true }

  /// The error for a proxy that the policy forbids.
  func refusal(for url: ImageURL) -> LoadError {
    LoadError(
      .forbiddenAddress,
      url: url,
      message:
        "the proxy `\(place)` of $\(variable) is on this machine or on a private network, which is not "
        + "allowed; allow that (`feedimg serve --allow-private`), or unset $\(variable)"
    )
  }
}

import FeedimgModel
import FeedimgSystem
import Testing

@testable import FeedimgTransfer

/// The proxy that an error about a forbidden address names.
@Suite struct ProxySettingTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let url: String
    var chosen: String?
    var variables: [String: String] = [:]
    /// The begin of the message; nil if the error is not about a proxy.
    let subject: String?
    let reason: String

    var testDescription: String { reason }
  }

  @Test(arguments: [
    Row(url: "http://a.example/", subject: nil, reason: "there is no proxy"),
    Row(
      url: "http://a.example/",
      variables: ["http_proxy": "http://user:secret@10.0.0.1:3128/"],
      subject: "the proxy `10.0.0.1:3128` of $http_proxy is",
      reason: "the proxy has this address"
    ),
    Row(
      url: "http://a.example/",
      variables: ["http_proxy": "http://10.0.0.2:3128"],
      subject: nil,
      reason: "the proxy has another address"
    ),
    Row(
      url: "http://a.example/",
      variables: ["http_proxy": "http://proxy.example:3128"],
      subject: "the host `a.example` or the proxy `proxy.example:3128` of $http_proxy is",
      reason: "the proxy has a name, and may not be used for this host"
    ),
    Row(
      url: "https://a.example/",
      variables: ["http_proxy": "http://10.0.0.1:3128"],
      subject: nil,
      reason: "the proxy is for another scheme"
    ),
    Row(
      url: "http://a.example/",
      chosen: "http://[fd00::1]:8080",
      variables: ["http_proxy": "http://10.0.0.1:3128"],
      subject: nil,
      reason: "the program chooses another proxy"
    ),
    Row(
      url: "http://a.example/",
      chosen: "http://10.0.0.1:8080",
      variables: ["http_proxy": "http://10.0.0.2:3128"],
      subject: "the proxy `10.0.0.1:8080` is",
      reason: "the program chooses the proxy with this address"
    ),
    Row(
      url: "http://a.example/",
      chosen: "",
      variables: ["http_proxy": "http://10.0.0.1:3128"],
      subject: nil,
      reason: "the program chooses no proxy"
    ),
  ])
  func `an error names a proxy that may have the address`(row: Row) throws {
    let url = try ImageURL(row.url)
    let address = try #require(IPAddress("10.0.0.1"))
    let proxy = ProxySetting(for: url, chosen: row.chosen) { row.variables[$0] }
    let message = proxy?.refusal(of: address, for: url)?.message
    #expect(message.map { $0.hasPrefix(row.subject ?? "-") } ?? (row.subject == nil), "\(message ?? "nil")")
  }
}

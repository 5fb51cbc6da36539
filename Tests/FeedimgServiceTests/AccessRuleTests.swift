import FeedimgModel
import Testing

@testable import FeedimgService

/// Which requests the service accepts.
@Suite struct AccessRuleTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let fields: [String: String]
    let status: Int?
    let reason: String
    var testDescription: String { reason }
  }

  private static let token = AccessToken("0123456789abcdef0123456789abcdef")
  private static let good = "Bearer 0123456789abcdef0123456789abcdef"

  private static let rows = [
    Row(
      fields: ["Host": "127.0.0.1:8080", "Authorization": good],
      status: nil,
      reason: "host and token are right"
    ),
    Row(
      fields: ["Host": "LocalHost:8080", "Authorization": good],
      status: nil,
      reason: "a name of this machine"
    ),
    Row(fields: ["Host": "[::1]:8080", "Authorization": good], status: nil, reason: "its other address"),
    Row(
      fields: ["Host": "127.0.0.1:8080", "Authorization": good.replacing("Bearer", with: "bearer")],
      status: nil,
      reason: "the case of the scheme does not matter (RFC 9110 §11.1)"
    ),
    Row(
      fields: ["Host": "127.0.0.1:8080", "Origin": "http://localhost:8080", "Authorization": good],
      status: nil,
      reason: "a page of the service itself"
    ),
    Row(fields: ["Host": "127.0.0.1:8080"], status: 401, reason: "no token"),
    Row(
      fields: ["Host": "127.0.0.1:8080", "Authorization": good + "0"],
      status: 401,
      reason: "a longer token"
    ),
    Row(
      fields: ["Host": "127.0.0.1:8080", "Authorization": good.replacing("f", with: "e")],
      status: 401,
      reason: "another token"
    ),
    Row(
      fields: ["Host": "127.0.0.1:8080", "Authorization": good.replacing("Bearer", with: "Basic")],
      status: 401,
      reason: "another scheme"
    ),
    Row(fields: ["Authorization": good], status: 403, reason: "no host"),
    Row(
      fields: ["Host": "evil.example:8080", "Authorization": good],
      status: 403,
      reason: "a name that was made to resolve to this machine (DNS rebinding)"
    ),
    Row(
      fields: ["Host": "localhost.evil.example:8080", "Authorization": good],
      status: 403,
      reason: "a name that begins like ours"
    ),
    Row(fields: ["Host": "127.0.0.1", "Authorization": good], status: 403, reason: "another port"),
    Row(
      fields: ["Host": "127.0.0.1:80", "Authorization": good],
      status: 403,
      reason: "another port still counts"
    ),
    Row(
      fields: ["Host": "127.0.0.1:8080", "Origin": "http://evil.example", "Authorization": good],
      status: 403,
      reason: "a page of another site"
    ),
    Row(
      fields: ["Host": "127.0.0.1:8080", "Origin": "null", "Authorization": good],
      status: 403,
      reason: "a page with an opaque origin"
    ),
    Row(
      fields: ["Host": "127.0.0.1:8080", "Sec-Fetch-Site": "cross-site", "Authorization": good],
      status: 403,
      reason: "an image on a page of another site"
    ),
  ]

  @Test(arguments: rows) func `over TCP host, origin and token must be right`(_ row: Row) {
    let fields = HTTPFields(row.fields.map { HTTPFields.Field(name: $0.key, value: $0.value) })
    let rejection = AccessRule.loopback(port: 8080, token: Self.token).rejection(of: fields)
    #expect(rejection?.status == row.status)
    let isAsked = rejection?.fields.contains { $0.0 == "WWW-Authenticate" } ?? false
    #expect(isAsked == (row.status == 401))
  }

  @Test(arguments: rows) func `public routes need no token, but the right host and origin`(_ row: Row) {
    let fields = HTTPFields(row.fields.map { HTTPFields.Field(name: $0.key, value: $0.value) })
    let rule = AccessRule.loopback(port: 8080, token: Self.token)
    #expect(rule.rejection(of: fields, isPublic: true)?.status == (row.status == 401 ? nil : row.status))
  }

  @Test(
    arguments: [
      ("GET", "/", true), ("HEAD", "/", true), ("GET", "/page/main.js", true),
      ("POST", "/", false), ("GET", "/v1/network", false), ("GET", "//", false),
      ("GET", "/page/../v1/cache", false), ("GET", "", false),
    ]
  )
  func `only the files of the page are public`(_ method: String, _ path: String, _ isPublic: Bool) {
    #expect(PageRoute.isPublic(method, path) == isPublic)
  }

  @Test func `without a token host and origin are still checked`() {
    let rule = AccessRule.loopback(port: 80, token: nil)
    #expect(rule.rejection(of: HTTPFields([.init(name: "Host", value: "localhost")]))?.status == nil)
    #expect(rule.rejection(of: HTTPFields([.init(name: "Host", value: "evil.example")]))?.status == 403)
  }

  @Test func `over the Unix socket only the user counts`() {
    #expect(AccessRule.sameUser.rejection(of: HTTPFields())?.status == nil)
    #expect(AccessRule.otherUser(1001).rejection(of: HTTPFields())?.status == 403)
  }
}

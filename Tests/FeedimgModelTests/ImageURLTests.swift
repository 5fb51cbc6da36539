import FeedimgModel
import Testing

struct ImageURLTests {
  static let accepted: [(text: String, host: String, key: String)] = [
    ("https://x.example/a.jpg", "x.example", "https://x.example/a.jpg"),
    ("HTTPS://X.Example/A.jpg", "x.example", "https://x.example/A.jpg"),
    ("http://x.example", "x.example", "http://x.example/"),
    ("http://x.example?q=1", "x.example", "http://x.example/?q=1"),
    ("http://x.example#top", "x.example", "http://x.example/"),
    ("http://x.example/a?b=c#d?e", "x.example", "http://x.example/a?b=c"),
    ("http://x.example:80/a", "x.example", "http://x.example/a"),
    ("http://x.example:/a", "x.example", "http://x.example/a"),
    ("http://x.example:0080/a", "x.example", "http://x.example/a"),
    ("https://x.example:443/a", "x.example", "https://x.example/a"),
    ("https://x.example:80/a", "x.example", "https://x.example:80/a"),
    ("http://x.example:65535/", "x.example", "http://x.example:65535/"),
    ("http://x.example:443/a", "x.example", "http://x.example:443/a"),
    ("http://x.example:08080/a", "x.example", "http://x.example:8080/a"),
    ("http://x.example:8080", "x.example", "http://x.example:8080/"),
    ("http://x.example:8080/a#b", "x.example", "http://x.example:8080/a"),
    ("http://x-1.example/#", "x-1.example", "http://x-1.example/"),
    ("http://x_y.example/a", "x_y.example", "http://x_y.example/a"),
    ("http://s/", "s", "http://s/"),
    ("http://[2001:DB8::1]/a", "2001:db8::1", "http://[2001:db8::1]/a"),
    ("http://[::1]:8080/a", "::1", "http://[::1]:8080/a"),
    ("http://x.example/a%20b", "x.example", "http://x.example/a%20b"),
    ("http://x.example/ä", "x.example", "http://x.example/ä"),
    ("http://x.example/\u{301}a", "x.example", "http://x.example/\u{301}a"),
    ("http://x.example?\u{301}a", "x.example", "http://x.example/?\u{301}a"),
    ("http://bücher.example/", "bücher.example", "http://bücher.example/"),
  ]

  @Test(arguments: accepted)
  func `an absolute web address has a host and a key`(_ text: String, _ host: String, _ key: String) throws {
    let url = try ImageURL(text)
    #expect(url.text == text)
    #expect(url.host == host)
    #expect(url.key == key)
  }

  @Test func `the key has a hash in place of user and password`() throws {
    let texts = [
      "http://x.example/a", "http://1:2@x.example/a", "http://Ann:Pa55@x.example/a", "http://a@b@x.example/a",
      "http://ann:Pa55@x.example/a", "http://Ann:Pa55@x.example:81/a",
    ]
    let keys = try texts.map { try ImageURL($0).key }
    #expect(Set(keys).count == texts.count)
    for key in keys.dropFirst() {
      #expect(key.hasPrefix("http://x.example") && !key.contains("@") && !key.contains("Pa55"))
      #expect(ImageURL.withoutCredentials(key) == "http://x.example\(key.contains(":81") ? ":81" : "")/a")
    }
    #expect(try ImageURL("HTTP://Ann:Pa55@X.example:80/a#b").key == keys[2])
  }

  @Test(arguments: [
    ("</a>; rel=next, <http://ann:pw@x.example/b>", "</a>; rel=next, <http://x.example/b>"),
    ("//ann:pw@x.example/a", "//x.example/a"), ("http://a/?u=https://u:p@b/", "http://a/?u=https://b/"),
    ("/a@b", "/a@b"), ("ann@x.example", "ann@x.example"), ("\"a@b//\"", "\"a@b//\""),
  ])
  func `URLs in a header field lose user and password`(text: String, shown: String) {
    #expect(ImageURL.hidingCredentials(in: text) == shown)
  }

  @Test(arguments: [
    ("http://x.example/a by 0123456789abcdef", "http://x.example/a", "the hash of credentials"),
    (
      "http://x.example/a by 0123456789abcdef by fedcba9876543210", "http://x.example/a",
      "a user in the URL, and an account in the header fields"
    ),
    (
      "http://x.example/a by 0123456789abcdef by 0123456789abcdef by 0123456789abcdef",
      "http://x.example/a by 0123456789abcdef", "a key has at most two"
    ),
    ("http://x.example/a by ann.jpg", "http://x.example/a by ann.jpg", "the user's words"),
    ("http://x/ by 0123456789abcdef.jpg", "http://x/ by 0123456789abcdef.jpg", "not the end"),
    ("http://x.example/a by 0123456789abcdeg", "http://x.example/a by 0123456789abcdeg", "not a hash"),
    ("http://ann:pass by word@x.example/a", "http://x.example/a", "a password with spaces"),
    (" by 0123456789abcdef", "", "no URL"), (" by ", " by ", "too short"),
  ])
  func `only a hash at the end is left out of a shown text`(text: String, shown: String, because: String) {
    #expect(ImageURL.withoutCredentials(text) == shown, "\(because)")
  }

  @Test func `a message shows the start of a long text without user and password`() {
    let long = String(repeating: "p", count: 100)
    #expect(ImageURL.shown("ftp://ann:\(long)@x.example/a") == "ftp://x.example/a")
    #expect(ImageURL.shown("ftp://x.example/\(long)") == "ftp://x.example/\(long.prefix(61))...")
  }

  @Test(arguments: [
    ("http://x.example/a@b", "http://x.example/a@b"), ("http://ann:pw@x.example/a", "http://x.example/a"),
    ("HTTPS://ann@x.example:8443?q=a@b", "HTTPS://x.example:8443?q=a@b"),
    ("http://a@b@x.example/", "http://x.example/"), ("http://:@x.example#@", "http://x.example#@"),
  ])
  func `the description leaves out user and password`(text: String, shown: String) throws {
    #expect(try ImageURL(text).description == shown)
  }

  static let refused: [(text: String, error: ImageURLError, reason: String)] = [
    ("", .empty, "is empty"),
    ("a.jpg", .relative, "is relative"),
    ("/a.jpg", .relative, "is relative"),
    ("//x.example/a.jpg", .relative, "is relative"),
    ("a/b:c", .relative, "is relative"),
    ("1http://x.example/", .relative, "is relative"),
    (":", .relative, "is relative"),
    ("file:///etc/passwd", .scheme("file"), "has the scheme `file`"),
    ("data:image/png;base64,AAAA", .scheme("data"), "has the scheme `data`"),
    ("FTP://x.example/a", .scheme("ftp"), "has the scheme `ftp`"),
    ("javascript:alert(1)", .scheme("javascript"), "has the scheme `javascript`"),
    ("http:", .noHost, "has no host"),
    ("http:x.example", .noHost, "has no host"),
    ("http:/x.example/a", .noHost, "has no host"),
    ("http://", .noHost, "has no host"),
    ("http:///a", .noHost, "has no host"),
    ("http://?q", .noHost, "has no host"),
    ("http://:80/a", .noHost, "has no host"),
    ("http://ann@/a", .noHost, "has no host"),
    ("http://[::1/a", .noHost, "has no host"),
    ("http://[]/a", .noHost, "has no host"),
    ("http://[::1]x/a", .noHost, "has no host"),
    ("http://x.example:0/", .port("0"), "has the port `0`, which is not from 1 to 65535"),
    (
      "http://x.example:9999999999999999999999/a", .port("9999999999999999999999"),
      "has the port `9999999999999999999999`, which is not from 1 to 65535"
    ),
    ("https://", .noHost, "has no host"),
    ("https:///", .noHost, "has no host"),
    ("http://x.example:65536/", .port("65536"), "has the port `65536`, which is not from 1 to 65535"),
    ("http://x.example:http/", .port("http"), "has the port `http`, which is not from 1 to 65535"),
    ("http://x.example:+80/", .port("+80"), "has the port `+80`, which is not from 1 to 65535"),
    ("http://x.example:-1/", .port("-1"), "has the port `-1`, which is not from 1 to 65535"),
    ("http://x.example/a b", .whiteSpace, "contains white space or a control character"),
    (" http://x.example/a", .whiteSpace, "contains white space or a control character"),
    ("http://x.example/a\n", .whiteSpace, "contains white space or a control character"),
    ("http://x.example/\u{0}", .whiteSpace, "contains white space or a control character"),
    ("http://x.example/\u{7F}", .whiteSpace, "contains white space or a control character"),
    ("http://x.example/\u{9B}31m", .whiteSpace, "contains white space or a control character"),
    ("http://127.0.0.1\\@192.0.2.9/a.png", .backslash, "contains a backslash"),
    ("http:\\\\x.example\\a", .backslash, "contains a backslash"),
    ("http://x.example/a\\b", .backslash, "contains a backslash"),
    ("http://x.example/?a\\b", .backslash, "contains a backslash"),
    ("http://x.example/\\\u{301}a", .backslash, "contains a backslash"),
    ("http://x.example/\u{2028}", .whiteSpace, "contains white space or a control character"),
  ]

  @Test(arguments: refused)
  func `anything else is refused with the reason`(_ text: String, _ error: ImageURLError, _ reason: String) {
    #expect(throws: error) { try ImageURL(text) }
    #expect(error.description == reason)
  }

  @Test func `a URL may have at most 8192 bytes`() throws {
    let stem = "http://x.example/"
    let longest = stem + String(repeating: "a", count: ImageURL.maximumLength - stem.utf8.count)
    #expect(try ImageURL(longest).text == longest)
    #expect(throws: ImageURLError.tooLong(8193)) { try ImageURL(longest + "a") }
    #expect(ImageURLError.tooLong(8193).description == "is 8193 bytes long, over the limit of 8192")
  }

  static let loopback: [(host: String, isLoopback: Bool)] = [
    ("127.0.0.1", true), ("127.255.3.4", true), ("[::1]", true), ("localhost", true), ("LocalHost", true),
    ("a.localhost", true), ("localhost.example", false), ("127.0.0.1.example", false), ("127.0.0", false),
    ("127.0.0.256", false), ("127.0.0.99999999999999999999", false), ("127.0..1", false),
    ("127.+0.0.1", false), ("128.0.0.1", false), ("127.0.0.1.", false),
    ("notlocalhost", false),
    ("[::2]", false), ("x.example", false),
  ]

  @Test(arguments: loopback)
  func `this machine is recognised by its name alone`(_ host: String, _ isLoopback: Bool) throws {
    #expect(try ImageURL("http://\(host)/a").isLoopback == isLoopback)
  }
}

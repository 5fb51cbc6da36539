import FeedimgModel
import Testing

@testable import FeedimgTransfer

struct RedirectChainTests {
  private let library: CurlLibrary

  init() throws { library = try CurlLibrary.open() }

  @Test(arguments: [
    ("http://a/1", "2", true, "relative"),
    ("http://a/1", "HTTP://A:80/2", true, "the same origin in another spelling"),
    ("http://u:p@a/1", "http://a/2", true, "user and password are not part of the origin"),
    ("http://[::1]/1", "http://[::1]:80/2", true, "a bracketed address"),
    ("http://[::1]:81/1", "http://[::1]:82/2", false, "another port of a bracketed address"),
    ("http://a/1", "http://b/2", false, "another host"),
    ("http://a/1", "http://a:81/2", false, "another port"),
    ("http://a/1", "https://a/2", false, "another scheme"),
    ("http://a/1", "http://sub.a/2", false, "a host below"),
  ])
  func `credentials are sent only to their own origin`(
    first: String,
    location: String,
    isSameOrigin: Bool,
    reason: String
  ) throws {
    var chain = RedirectChain(from: try ImageURL(first), limit: 5)
    #expect(chain.isSameOrigin)
    try chain.follow(location, status: 302, library)
    #expect(chain.isSameOrigin == isSameOrigin, "\(reason)")
  }

  @Test func `credentials are not sent again after a detour`() throws {
    var chain = RedirectChain(from: try ImageURL("http://a/1"), limit: 5)
    try chain.follow("http://b/2", status: 302, library)
    try chain.follow("http://a/3", status: 302, library)
    #expect(!chain.isSameOrigin)
  }

  @Test(arguments: [
    ("file:///etc/passwd", "the server redirected to `file:///etc/passwd`, which has the scheme `file`"),
    ("ftp://b/x", "the server redirected to `ftp://b/x`, which has the scheme `ftp`"),
    ("data:,x", "the server redirected to `data:,x`, which has the scheme `data`"),
    ("http://", "the server redirected to `http://`, which has no host"),
    (
      "http://b:99999/",
      "the server redirected to `http://b:99999/`, which has the port `99999`, which is not from 1 to 65535"
    ),
    (
      "http://127.0.0.1\\@b/",
      "the server redirected to `http://b/`, which contains a backslash"
    ),
    ("tel:1", "the server redirected to `tel:1`, which has the scheme `tel`"),
    ("1:2", "the server redirected to `1:2`, which is relative"),
    ("", "the server sent status 302 with an empty `Location`"),
  ])
  func `a redirect to an unusable URL is refused`(location: String, message: String) throws {
    var chain = RedirectChain(from: try ImageURL("http://a/1"), limit: 5)
    let error = #expect(throws: LoadError.self) { try chain.follow(location, status: 302, library) }
    #expect(error?.code == .forbiddenRedirect)
    #expect(error?.message == message)
  }

  @Test(arguments: [("/x\\y?key=secret", "/x\\y`"), ("1?key=secret", "back to `http://a/1`")])
  func `messages contain no password and no query`(location: String, part: String) throws {
    var chain = RedirectChain(from: try ImageURL("http://ann:secret@a/1?key=secret"), limit: 5)
    let error = #expect(throws: LoadError.self) { try chain.follow(location, status: 302, library) }
    #expect(error?.message.contains(part) == true && error?.message.contains("secret") == false)
  }

  @Test(arguments: [("http://a/1", "back to `http://a/1`"), ("#other", "back to `http://a/1`")])
  func `a redirect loop and a long chain have different errors`(location: String, end: String) throws {
    var chain = RedirectChain(from: try ImageURL("http://a/1"), limit: 5)
    let error = #expect(throws: LoadError.self) { try chain.follow(location, status: 302, library) }
    #expect(error?.code == .tooManyRedirects)
    #expect(error?.message.hasSuffix(end) == true)
  }

  @Test func `redirects are followed up to the limit`() throws {
    var chain = RedirectChain(from: try ImageURL("http://a/0"), limit: 2)
    try chain.follow("1", status: 302, library)
    try chain.follow("2", status: 302, library)
    let error = #expect(throws: LoadError.self) { try chain.follow("3", status: 302, library) }
    #expect(error?.message == "the server exceeded the limit of 2 redirects")
    #expect(chain.url.text == "http://a/2")
  }

  @Test func `spaces and non-ASCII letters in a redirect are encoded`() throws {
    var chain = RedirectChain(from: try ImageURL("http://a/0"), limit: 2)
    try chain.follow("/kaffee mit ä.png?q=ö", status: 302, library)
    #expect(chain.url.text == "http://a/kaffee%20mit%20%C3%A4.png?q=%C3%B6")
  }
}

import Testing

@testable import FeedimgTransfer

struct CurlURLTests {
  private let library: CurlLibrary

  init() throws { library = try CurlLibrary.open() }

  /// RFC 3986 §5.4, relative to `http://a/b/c/d;p?q`.
  ///
  /// For `http://g`, libcurl adds the slash.
  @Test(arguments: [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"), ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
    ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
    (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
    ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
    ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
    ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
    ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
    ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"),
  ])
  func `a reference resolves as RFC 3986 says`(reference: String, expected: String) {
    #expect(CurlURL.resolve(reference, against: "http://a/b/c/d;p?q", library) == expected)
  }

  @Test func `a fragment alone refers to the same resource`() {
    #expect(CurlURL.resolve("#s", against: "http://a/b/c/d;p?q", library) == "http://a/b/c/d;p?q")
  }

  @Test(arguments: ["g:h", "http:g", "http://", "http://b:99999/", "data:,x", "1:2"])
  func `libcurl follows no other scheme and no unreadable reference`(reference: String) {
    #expect(CurlURL.resolve(reference, against: "http://a/b/c/d;p?q", library) == nil)
  }

  @Test(arguments: [
    ("x", "http://a", "http://a/x"), ("?x", "http://a", "http://a/?x"), ("x", "http://a?b/c", "http://a/x"),
    ("x", "http://u:p@a:81/b", "http://u:p@a:81/x"), ("//b/x", "https://a/", "https://b/x"),
    ("x", "http://bücher.test/a", "http://bücher.test/x"),
  ])
  func `a base need not have a path`(reference: String, base: String, expected: String) {
    #expect(CurlURL.resolve(reference, against: base, library) == expected)
  }

  @Test(arguments: [
    ("/a%20b", "/a%20b"), ("/a b", "/a%20b"), ("/ä", "/%C3%A4"), ("/a\tb\u{7F}", "/a%09b%7F"), ("/%", "/%"),
  ])
  func `only characters that cannot be sent are encoded`(text: String, expected: String) {
    #expect(CurlURL.encodingUnsafe(text) == expected)
  }
}

import Testing

@testable import FeedimgFeeds

@Suite struct URLReferenceTests {
  /// RFC 3986 §5.4, without the references that have no use for pictures.
  static let references: [(String, String)] = [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
    ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"), (";x", "http://a/b/c/;x"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
    ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
    ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("https://h/%2F", "https://h/%2F"), ("a%2Fb", "http://a/b/c/a%2Fb"), ("a:b", "a:b"),
  ]

  @Test(arguments: references) func `a reference and its URL`(reference: String, url: String) {
    #expect(URLReference.resolve(reference, base: "http://a/b/c/d;p?q") == url)
  }

  @Test func `white space is removed or encoded, and a base may lack a path`() {
    #expect(URLReference.cleaned(" \n a b\t\nc\u{0} ") == "a%20bc")
    #expect(URLReference.cleaned(" \n") == "")
    #expect(URLReference.resolve("g", base: "http://a") == "http://a/g")
    #expect(URLReference.resolve("g", base: "http://a?q/r") == "http://a/g")
    #expect(URLReference.resolve("//g/h", base: nil) == "https://g/h")
    #expect(URLReference.resolve("g", base: nil) == "g")
  }
}

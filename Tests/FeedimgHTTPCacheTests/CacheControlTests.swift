import FeedimgHTTPCache
import FeedimgModel
import Testing

@Suite struct CacheControlTests {
  @Test(arguments: [
    ("", true, "no directive forbids it"),
    ("no-store", false, "RFC 9111 §5.2.2.5"),
    ("No-Store", false, "names are the same in any case, RFC 9111 §5.2"),
    ("private, max-age=3, no-store", false, "anywhere in the list"),
    ("max-age=3,no-store,", false, "empty elements are allowed, RFC 9110 §5.6.1"),
    ("no-store=\"x\"", false, "a malformed argument does not cancel it"),
    ("private", true, "this cache is private"),
    ("no-cache", true, "it may be stored and must be validated"),
    ("private=\"no-store\"", true, "a field name within quotes is not a directive"),
    ("x=\"a, no-store\"", true, "commas within quotes do not separate elements, RFC 9110 §5.6.4"),
    ("x=\"\\\", no-store\"", true, "an escaped quote does not end the string"),
    ("no-stores", true, "another word"),
  ])
  func `a response may be stored unless it says no-store`(
    text: String,
    isAllowed: Bool,
    because: String
  ) throws {
    let field = HTTPFields.Field(name: "cache-control", value: text)
    let head = ResponseHead(status: 200, fields: HTTPFields([field]), url: try ImageURL("https://a/"))
    #expect(storageAllowed(head: head) == isAllowed, "\(because)")
  }

  @Test func `several lines count as one list`() throws {
    let fields = ["max-age=3", "no-store"].map { HTTPFields.Field(name: "Cache-Control", value: $0) }
    let head = ResponseHead(status: 200, fields: HTTPFields(fields), url: try ImageURL("https://a/"))
    #expect(!storageAllowed(head: head))
  }

  @Test func `spaces and tabs around a value are removed`() {
    for (text, value) in [(" \ta b\t ", "a b"), ("  ", ""), ("a", "a")] {
      #expect(Substring(text).trimmed == value)
    }
  }
}

import FeedimgJSON
import Testing

@testable import FeedimgSettings

struct SettingsDocumentTests {
  private func document(_ text: String) throws -> SettingsDocument { try SettingsDocument(Array(text.utf8)) }

  @Test(arguments: ["", " \n", "{ }"]) func `a blank text has no members`(_ text: String) throws {
    var document = try document(text)
    #expect(document.object == [:])
    document.object["a"] = 1
    #expect(String(decoding: document.text, as: UTF8.self) == "{\n  \"a\": 1\n}\n")
  }

  @Test func `a value is found with its line`() throws {
    let found = try document("{\n  \"b\": {\n \"c\": 1},\n  \"a\":\n  7\n}")
    #expect(found.object["a"] == 7)
    #expect(found.line(of: "a") == 5)
    #expect(found.line(of: "b", "c") == 3)
  }

  static let flaws = [
    ("{\"a\": 1,}", ":1:9: expected a member name in quotes, found `}`"),
    ("{\n  \"a\": yes\n}", ":2:8: expected a JSON value, found `y`"),
    ("[1]", ":1:1: expected an object, found an array"),
    ("{} {}", ":1:4: expected the end of the text"),
    ("{", ":1:2: expected a member name in quotes, but the text ends here"),
  ]

  @Test(arguments: flaws)
  func `an invalid file is reported with the place`(_ text: String, _ message: String) {
    let flaw = #expect(throws: JSONError.self) { try document(text) }
    #expect(flaw.map { ":\($0.line):\($0.column): \($0.message)" } == message)
  }
}

import FeedimgJSON
import Testing

@testable import FeedimgSettings

struct SettingsDocumentTests {
  private func document(_ text: String) throws -> SettingsDocument { try SettingsDocument(Array(text.utf8)) }

  private func text(_ document: SettingsDocument) -> String {
    String(decoding: document.bytes, as: UTF8.self)
  }

  struct Edit: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var before: String
    var after: String
  }

  static let settings = [
    Edit(testDescription: "into a new file", before: "", after: "{\n  \"a\": 1\n}\n"),
    Edit(testDescription: "into an empty object", before: "{ }\n", after: "{\n  \"a\": 1\n}\n"),
    Edit(
      testDescription: "after the last member",
      before: "{\n\t\"b\" : 2\n}",
      after: "{\n\t\"b\" : 2,\n\t\"a\" : 1\n}"
    ),
    Edit(testDescription: "on one line", before: #"{"b":2}"#, after: #"{"b":2,"a":1}"#),
    Edit(
      testDescription: "in place, with everything else unchanged",
      before: #"{"x":[1e3, "\u00e4\/"], "a" :  {"a":[0]}  , "z":"a"}"#,
      after: #"{"x":[1e3, "\u00e4\/"], "a" :  1  , "z":"a"}"#
    ),
    Edit(
      testDescription: "a name that is spelled with escapes",
      before: #"{"\u0061": 0, "b": "\"a\": 5"}"#,
      after: #"{"\u0061": 1, "b": "\"a\": 5"}"#
    ),
    Edit(
      testDescription: "of two the last, which counts",
      before: #"{"a":0,"a":7}"#,
      after: #"{"a":0,"a":1}"#
    ),
    Edit(
      testDescription: "nested members of the same name are not changed",
      before: #"{"b":{"a":0}}"#,
      after: #"{"b":{"a":0},"a":1}"#
    ),
    Edit(testDescription: "a byte order mark stays", before: "\u{FEFF}{\"a\":0}", after: "\u{FEFF}{\"a\":1}"),
  ]

  @Test(arguments: settings)
  func `setting a member changes no other byte`(_ edit: Edit) throws {
    var edited = try document(edit.before)
    edited.set("a", to: 1)
    #expect(text(edited) == edit.after)
    #expect(edited.value(of: "a")?.value == 1)
  }

  static let removals = [
    Edit(testDescription: "the only one", before: "{\n  \"a\": 1\n}\n", after: "{}\n"),
    Edit(testDescription: "the first", before: #"{ "a": 1, "b": 2 }"#, after: #"{ "b": 2 }"#),
    Edit(testDescription: "the last", before: #"{ "b": 2, "a": 1 }"#, after: #"{ "b": 2 }"#),
    Edit(
      testDescription: "one between",
      before: "{\n  \"b\": 2,\n  \"a\": 1,\n  \"c\": 3\n}",
      after: "{\n  \"b\": 2,\n  \"c\": 3\n}"
    ),
    Edit(testDescription: "all of that name", before: #"{"a":1,"b":2,"a":3}"#, after: #"{"b":2}"#),
    Edit(testDescription: "none", before: #"{"b":{"a":1}}"#, after: #"{"b":{"a":1}}"#),
  ]

  @Test(arguments: removals)
  func `removing a member changes no other`(_ edit: Edit) throws {
    var edited = try document(edit.before)
    edited.remove("a")
    #expect(text(edited) == edit.after)
    #expect(edited.value(of: "a") == nil)
  }

  @Test func `a value is found with its line`() throws {
    let found = try document("{\n  \"b\": [\n  ],\n  \"a\":\n  7\n}")
    #expect(found.value(of: "a")?.value == 7)
    #expect(found.value(of: "a")?.line == 5)
    #expect(found.value(of: "c") == nil)
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
    let flaw = #expect(throws: SettingsDocument.SyntaxError.self) { try document(text) }
    #expect(flaw?.description == message)
  }
}

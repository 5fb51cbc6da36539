import FeedimgJSON
import Testing

struct JSONTextTests {
  static let texts = [
    "null", "true", "-1.50E+3", #""a\"\\\n\r\t\u0001\u007f/ä😀""#, "[]", "{}",
    #"[1,[],{"b":null,"a":[false]}]"#,
    #"{"z":1,"a":2,"z":3}"#,
  ]

  @Test(arguments: texts)
  func `JSON on one line is written as it was read`(_ text: String) throws {
    let value = try JSONReader.value(in: text.utf8)
    #expect(value.text(.compact) == text)
    #expect(try JSONReader.value(in: value.text(.indented).utf8) == value)
  }

  @Test func `indented text has one member per line`() {
    let value: JSONValue = ["a": [1, [:], []], "b": ["c": .null]]
    let expected = """
      {
        "a": [
          1,
          {},
          []
        ],
        "b": {
          "c": null
        }
      }
      """
    #expect(value.text(.indented) == expected)
  }

  @Test func `every scalar below the surrogates survives being written and read`() throws {
    let text = String(String.UnicodeScalarView((0..<0xD800).compactMap(Unicode.Scalar.init)))
    #expect(try JSONReader.value(in: JSONValue.string(text).text(.compact).utf8) == .string(text))
  }

  // MARK: Reading values

  static let integers: [(JSONValue, Int?)] = [
    (.number("7"), 7), (.number("-7"), -7), (.number("1e3"), 1000), (.number("1.0"), 1),
    (.number("1.5"), nil),
    (.number("-0"), 0), (.number("9223372036854775807"), .max), (.number("9223372036854775808"), nil),
    (.number("1e400"), nil), ("7", nil), (true, nil), (.null, nil),
  ]

  @Test(arguments: integers)
  func `a whole number is recognised in every notation`(_ value: JSONValue, _ integer: Int?) {
    #expect(value.integer == integer)
  }

  @Test func `a value has a kind`() {
    let values: [JSONValue] = [.null, true, 1, "a", [], [:]]
    #expect(values.map(\.kind) == ["null", "true or false", "a number", "a string", "an array", "an object"])
    #expect(values.map(\.text) == [nil, nil, nil, "a", nil, nil])
    #expect(values.map(\.double) == [nil, nil, 1, nil, nil, nil])
    #expect(JSONValue.optional(nil) == .null && JSONValue.optional("a") == "a")
  }

  // MARK: Objects

  @Test func `the last of several members with one name counts, and all are removed together`() {
    var object = JSONObject([("a", 1), ("b", 2), ("a", 3)])
    #expect(object["a"] == 3)
    object["a"] = 4
    #expect(object.members.map(\.value) == [1, 2, 4])
    object["c"] = 5
    object["a"] = nil
    #expect(object.members.map(\.name) == ["b", "c"])
    #expect(object["a"] == nil)
  }
}

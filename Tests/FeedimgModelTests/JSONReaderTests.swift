import FeedimgJSON
import Testing

struct JSONReaderTests {
  // MARK: Valid JSON

  static let accepted: [(text: String, value: JSONValue)] = [
    ("null", .null), ("true", true), ("false", false), (" \t\r\n null \n", .null),
    ("0", .number("0")), ("-0", .number("-0")), ("10", .number("10")), ("1.50", .number("1.50")),
    ("-1e3", .number("-1e3")), ("1E+3", .number("1E+3")), ("0.1e-7", .number("0.1e-7")),
    ("123456789012345678901234567890", .number("123456789012345678901234567890")),
    ("\"\"", ""), ("\"a\"", "a"), ("\"\u{7F}\"", "\u{7F}"), ("\"é漢😀\"", "é漢😀"),
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
    (#""\u0041\u00e4\u20AC""#, "Aä€"), (#""\ud83d\ude00""#, "😀"), (#""\u0000""#, "\0"),
    (#""\ud83d""#, "\u{FFFD}"), (#""\ude00""#, "\u{FFFD}"), (#""\ud83d!""#, "\u{FFFD}!"),
    (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
    (#""\ud83d\n""#, "\u{FFFD}\n"),
    ("[]", []), ("[ ]", []), ("[1,[2],{}]", [1, [2], [:]]), ("[\n1 ,\n2\n]", [1, 2]),
    ("{}", [:]), ("{ }", [:]), (#"{"b":1,"a":[null]}"#, ["b": 1, "a": [.null]]),
    (#"{"a":1,"a":2}"#, .object(JSONObject([("a", 1), ("a", 2)]))), (#"{"":0}"#, ["": 0]),
    ("\u{FEFF}[1]", [1]),
  ]

  @Test(arguments: accepted)
  func `valid JSON is read`(_ text: String, _ value: JSONValue) throws {
    #expect(try JSONReader.value(in: text.utf8) == value)
  }

  // MARK: Invalid JSON

  static let refused: [(text: String, fault: String)] = [
    ("", "line 1, column 1: expected a JSON value"),
    ("  \n ", "line 2, column 2: expected a JSON value"),
    ("nul", "line 1, column 1: expected `null`, found `n`"),
    ("True", "line 1, column 1: expected a JSON value, found `T`"),
    ("nullx", "line 1, column 5: expected the end of the text"),
    ("1 2", "line 1, column 3: expected the end of the text"),
    ("01", "line 1, column 2: a number must not have a leading zero"),
    ("-01", "line 1, column 3: a number must not have a leading zero"),
    ("+1", "line 1, column 1: expected a JSON value, found `+`"),
    ("-", "line 1, column 2: expected a digit, but the text ends here"),
    ("-a", "line 1, column 2: expected a digit, found `a`"),
    ("1.", "line 1, column 3: expected a digit, but the text ends here"),
    (".5", "line 1, column 1: expected a JSON value, found `.`"),
    ("1e", "line 1, column 3: expected a digit, but the text ends here"),
    ("1e+-1", "line 1, column 4: expected a digit, found `-`"),
    ("0x10", "line 1, column 2: expected the end of the text"),
    ("NaN", "line 1, column 1: expected a JSON value, found `N`"),
    ("Infinity", "line 1, column 1: expected a JSON value, found `I`"),
    ("'a'", "line 1, column 1: expected a JSON value, found `'`"),
    ("\"a", "line 1, column 1: the string is not closed"),
    ("[1,\n\"a]\n", "line 2, column 4: a control character in a string must be escaped"),
    ("\"a\tb\"", "line 1, column 3: a control character in a string must be escaped"),
    ("\"\\\u{1}\"", "line 1, column 3: expected an escape such as `\\n` or `\\u00e4`, found byte 0x1"),
    (#""\x41""#, "line 1, column 3: expected an escape such as `\\n` or `\\u00e4`, found `x`"),
    (#""\u12""#, "line 1, column 4: expected four hexadecimal digits, found `1`"),
    (#""\u12g4""#, "line 1, column 4: expected four hexadecimal digits, found `1`"),
    (#""\u+123""#, "line 1, column 4: expected four hexadecimal digits, found `+`"),
    ("[", "line 1, column 2: expected a JSON value, but the text ends here"),
    ("[1", "line 1, column 3: expected `,` or `]`, but the text ends here"),
    ("[1,]", "line 1, column 4: expected a JSON value, found `]`"),
    ("[,1]", "line 1, column 2: expected a JSON value, found `,`"),
    ("[1 2]", "line 1, column 4: expected `,` or `]`, found `2`"),
    ("[1}", "line 1, column 3: expected `,` or `]`, found `}`"),
    ("{", "line 1, column 2: expected a member name in quotes, but the text ends here"),
    ("{a:1}", "line 1, column 2: expected a member name in quotes, found `a`"),
    (#"{"a"}"#, "line 1, column 5: expected `:` after the name, found `}`"),
    (#"{"a" 1}"#, "line 1, column 6: expected `:` after the name, found `1`"),
    (#"{"a":}"#, "line 1, column 6: expected a JSON value, found `}`"),
    (#"{"a":1,}"#, "line 1, column 8: expected a member name in quotes, found `}`"),
    ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3: expected `,` or `}`, found `\"`"),
    ("// a\n1", "line 1, column 1: expected a JSON value, found `/`"),
    ("[1]\u{FEFF}", "line 1, column 4: expected the end of the text"),
    ("\u{A0}1", "line 1, column 1: expected a JSON value, found byte 0xc2"),
  ]

  @Test(arguments: refused)
  func `invalid JSON is refused with the place`(_ text: String, _ fault: String) {
    let error = #expect(throws: JSONError.self) { try JSONReader.value(in: text.utf8) }
    #expect(error?.description == fault)
  }

  static let brokenUTF8: [(bytes: [UInt8], reason: String)] = [
    ([0xFF], "an invalid byte in UTF-8"), ([0xC3], "cut short"), ([0x80], "a continuation byte alone"),
    ([0xC0, 0xAF], "an overlong form"), ([0xED, 0xA0, 0x80], "a surrogate"),
    ([0xF5, 0x80, 0x80, 0x80], "too great"),
  ]

  @Test(arguments: brokenUTF8)
  func `a string that is not UTF-8 is refused`(_ bytes: [UInt8], _ reason: String) {
    for (lead, tail) in [("[1, \"", "\"]"), ("[1, \"\\n", "\"]")] {
      let error = #expect(throws: JSONError.self, "\(reason)") {
        try JSONReader.value(in: Array(lead.utf8) + bytes + Array(tail.utf8))
      }
      #expect(error?.description == "line 1, column 6: a string is not valid UTF-8")
    }
  }

  // MARK: Several values

  @Test func `values may follow one another, as in JSON lines`() throws {
    #expect(try JSONReader.values(in: "".utf8) == [])
    #expect(try JSONReader.values(in: " \n".utf8) == [])
    #expect(try JSONReader.values(in: "{}\n[1]\r\n\"a\"".utf8) == [[:], [1], "a"])
    let error = #expect(throws: JSONError.self) { try JSONReader.values(in: "{}\n{]".utf8) }
    #expect(error?.description == "line 2, column 2: expected a member name in quotes, found `]`")
  }

  // MARK: Hostile input

  @Test(arguments: ["[", "{\"a\":"])
  func `endless nesting is refused before the stack overflows`(_ opening: String) {
    let text = String(repeating: opening, count: 100_000)
    let error = #expect(throws: JSONError.self) { try JSONReader.value(in: text.utf8) }
    #expect(error?.message == "nested more than 512 deep")
  }

  @Test func `nesting up to the limit is read and written`() throws {
    let text = String(repeating: "[", count: 511) + "1" + String(repeating: "]", count: 511)
    let value = try JSONReader.value(in: text.utf8)
    #expect(value.text(.compact) == text)
  }

  @Test func `no prefix of a document traps`() {
    let text = Array(#"{"a\u00e4\ud83d\ude00": [1.5e-3, true, null, "x\n"], "b": {"c": -0}}"#.utf8)
    for count in 0..<text.count {
      #expect(throws: JSONError.self, "\(count) bytes") { try JSONReader.value(in: text.prefix(count)) }
    }
  }
}

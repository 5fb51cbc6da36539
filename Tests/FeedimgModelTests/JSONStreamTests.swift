import FeedimgJSON
import Testing

/// Documents in pieces, which must give the same values as the whole text.
struct JSONStreamTests {
  static func read(_ text: String, pieces length: Int) throws(JSONError) -> [JSONValue] {
    var stream = JSONStream()
    var values: [JSONValue] = []
    var rest = Array(text.utf8)[...]
    repeat {
      let piece = rest.prefix(length)
      rest = rest.dropFirst(length)
      values += try stream.read(piece, isLast: rest.isEmpty).map(\.value)
    } while !rest.isEmpty
    #expect(stream.count == values.count)
    return values
  }

  @Test(
    arguments: [
      ("", []), ("7", [7]), ("12 -3.5e+2\n0", [12, .number("-3.5e+2"), 0]), ("[]", []),
      ("[12,345]", [12, 345]),
      ("\u{FEFF}true null\n\"ä\\ud83d\\ude00\"", [true, .null, "ä😀"]),
      ("[[1], {\"a\": 2}]", [[1], ["a": 2]]),
    ] as [(String, [JSONValue])],
    [1, 2, 3, .max]
  )
  func `pieces give the values of the document`(
    document: (text: String, values: [JSONValue]),
    length: Int
  ) throws {
    #expect(try Self.read(document.text, pieces: length) == document.values)
  }

  @Test(
    arguments: [
      ("{\"a\": tru}", 1, 7, "expected `true`, found `t`"),
      ("[1,\n 2,\n 3 4]", 3, 4, "expected `,` or `]`, found `4`"),
      ("1\n\n  [2,\n ]", 4, 2, "expected a JSON value, found `]`"),
      ("[1]\n2", 2, 1, "expected the end of the text"),
    ] as [(String, Int, Int, String)],
    [1, 2, 3, .max]
  )
  func `an error has its place in the document`(
    document: (text: String, line: Int, column: Int, message: String),
    length: Int
  ) {
    let error = #expect(throws: JSONError.self) { try Self.read(document.text, pieces: length) }
    #expect(error?.line == document.line && error?.column == document.column)
    #expect(error?.message == document.message)
  }
}

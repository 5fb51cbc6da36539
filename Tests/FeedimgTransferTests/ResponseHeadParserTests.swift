import FeedimgModel
import Testing

@testable import FeedimgTransfer

struct ResponseHeadParserTests {
  /// Lines of a head, and what they say.
  struct Row: Sendable, CustomTestStringConvertible {
    var lines: [String]
    var status: Int
    var length: Int?
    var endsByClosing: Bool
    var reason: String
    var testDescription: String { reason }

    init(_ lines: [String], _ status: Int, length: Int?, closing: Bool, _ reason: String) {
      (self.lines, self.status, self.length, self.reason) = (lines, status, length, reason)
      endsByClosing = closing
    }
  }

  static let rows = [
    Row(["HTTP/1.1 200 OK", "Content-Length: 5"], 200, length: 5, closing: false, "a length is announced"),
    Row(["HTTP/1.1 200 OK"], 200, length: nil, closing: true, "no length: the end is the closing"),
    Row(["HTTP/1.0 200 OK"], 200, length: nil, closing: true, "HTTP/1.0 has no chunks"),
    Row(["HTTP/2 200"], 200, length: nil, closing: false, "HTTP/2 marks the end of a stream itself"),
    Row(["HTTP/1.1 204 No Content"], 204, length: nil, closing: false, "204 has no body"),
    Row(
      ["HTTP/1.1 304 Not Modified", "Content-Length: 5"],
      304,
      length: nil,
      closing: false,
      "the length of a 304 is that of the body it leaves out"
    ),
    Row(
      ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Length: 5"],
      200,
      length: nil,
      closing: false,
      "a transfer coding overrides the length"
    ),
    Row(
      ["HTTP/1.1 200 OK", "Content-Length: 5", "content-length: 5"],
      200,
      length: 5,
      closing: false,
      "equal lengths may be repeated"
    ),
    Row(
      ["HTTP/1.1 103 Early Hints", "Link: </a.css>", "", "HTTP/1.1 404 Not Found", "Content-Length: 0"],
      404,
      length: 0,
      closing: false,
      "an interim answer is passed over"
    ),
    Row(
      ["HTTP/1.1 200 OK", "Content\rLength: 5", "CONTENT-LENGTH: 6"],
      200,
      length: 6,
      closing: false,
      "names differ by the case of letters alone"
    ),
    Row(["HTTP/1.1 299"], 299, length: nil, closing: true, "a reason is not required"),
  ]

  @Test(arguments: rows)
  func `a head tells where its body ends`(row: Row) throws {
    let head = try #require(try parse(row.lines))
    #expect(head.status == row.status)
    #expect(head.contentLength == row.length)
    #expect(head.endsByClosing == row.endsByClosing)
  }

  @Test func `fields keep their order, their lines and their values without white space`() throws {
    let lines = ["HTTP/1.1 200 OK", "Vary:  Accept \t", "X-Empty:", "vary: Cookie", "X-Colon: a:b"]
    let head = try #require(try parse(lines))
    let expected = [("Vary", "Accept"), ("X-Empty", ""), ("vary", "Cookie"), ("X-Colon", "a:b")]
    #expect(head.fields.fields.map(\.name) == expected.map(\.0))
    #expect(head.fields.fields.map(\.value) == expected.map(\.1))
    #expect(head.fields["VARY"] == "Accept, Cookie")
  }

  @Test func `a folded line continues the field before it`() throws {
    let head = try #require(try parse(["HTTP/1.1 200 OK", "X-Long: one", "\ttwo", "X-Short: three"]))
    #expect(head.fields["x-long"] == "one two")
    #expect(head.fields["x-short"] == "three")
  }

  @Test func `a value that is not UTF-8 is read as Latin-1`() throws {
    var parser = ResponseHeadParser()
    _ = try feed(&parser, Array("HTTP/1.1 200 OK\r\n".utf8))
    _ = try feed(&parser, Array("X-Name: caf".utf8) + [0xE9, 0x0D, 0x0A])
    _ = try feed(&parser, Array("X-Other: café\r\n".utf8))
    let head = try #require(try feed(&parser, [0x0D, 0x0A]))
    #expect(head.fields["x-name"] == "café")
    #expect(head.fields["x-other"] == "café")
  }

  @Test(arguments: ["-1", "+1", "5, 6", "5, x", ",", "five", "0x10", "99999999999999999999", ""])
  func `a length that is no length is refused`(length: String) {
    let error = failure(["HTTP/1.1 200 OK", "Content-Length: \(length)"])
    #expect(error?.code == .malformed)
    #expect(error?.message == "the answer announces the length `\(length)`")
  }

  @Test(arguments: ["", "HTTP/1.1", "HTTP/1.1 OK", "HTTP/1.1 99 Low", "HTTP/1.1 2000 High"].dropFirst())
  func `an answer begins with a status line`(line: String) {
    #expect(failure([line])?.message == "the answer begins with no valid status line")
  }

  @Test func `interim answers count towards the length of the head`() {
    let hints = ["HTTP/1.1 103 Early Hints", "Link: </\(String(repeating: "a", count: 1000)).css>", ""]
    let error = failure(Array(repeating: hints, count: 100).flatMap { $0 })
    #expect(error?.message == "the head of the answer is longer than 64 KiB")
  }

  private func feed(_ parser: inout ResponseHeadParser, _ line: [UInt8]) throws -> ResponseHeadParser.Head? {
    try line.withUnsafeBytes { try parser.take($0) }
  }

  private func parse(_ lines: [String]) throws -> ResponseHeadParser.Head? {
    var parser = ResponseHeadParser()
    for line in lines { _ = try feed(&parser, Array("\(line)\r\n".utf8)) }
    return try feed(&parser, [0x0D, 0x0A])
  }

  private func failure(_ lines: [String]) -> LoadError? {
    do {
      _ = try parse(lines)
      return nil
    } catch {
      return error as? LoadError
    }
  }
}

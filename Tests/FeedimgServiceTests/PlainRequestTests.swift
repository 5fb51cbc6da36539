import FeedimgModel
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import FeedimgService

/// Which requests need no decoder, and that it would find the same in them.
@Suite struct PlainRequestTests {
  private static func read(_ text: String, atMost count: Int = 8) -> (target: String, fields: HTTPFields)? {
    Array(text.utf8).withUnsafeBytes { bytes in
      guard let request = PlainRequest(bytes),
        let fields = PlainRequest.fields(
          UnsafeRawBufferPointer(rebasing: bytes[request.fields]),
          atMost: count
        )
      else { return nil }
      return (String(decoding: bytes[request.target], as: UTF8.self), fields)
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /v1/image?item=%7B%7D&a=b HTTP/1.1\r\nhost: 127.0.0.1:80\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x\r\nAccept: a, b;q=0.5\r\nX-Y_z: \"a b\"\r\naccept: c\r\n\r\n",
    "GET /a HTTP/1.1\r\nConnection: Keep-Alive\r\nHost: x\r\n\r\n",
    "GET //..;?~!$&'()*+,;=:@%41 HTTP/1.1\r\nHost: x\r\n\r\n",
  ]) func `what is plain is read as by the decoder`(_ text: String) throws {
    let plain = try #require(Self.read(text))
    let channel = EmbeddedChannel(handler: ByteToMessageHandler(HTTPRequestDecoder()))
    try channel.writeInbound(ByteBuffer(string: text))
    guard case .head(let head)? = try channel.readInbound(as: HTTPServerRequestPart.self) else {
      Issue.record("no head")
      return
    }
    #expect(plain.target == head.uri)
    #expect(plain.fields.fields.map(\.name) == head.headers.map(\.name))
    #expect(plain.fields.fields.map(\.value) == head.headers.map(\.value))
    #expect(head.method == .GET && head.version == .http1_1 && head.isKeepAlive)
    guard case .end(nil)? = try channel.readInbound(as: HTTPServerRequestPart.self) else {
      Issue.record("no end")
      return
    }
  }

  @Test(arguments: [
    ("", "nothing"), ("GET", "a beginning"), ("GET / HTTP/1.1\r\n", "no fields yet"),
    ("GET / HTTP/1.1\r\nHost: x\r\n", "no end yet"), ("GET / HTTP/1.1\r\nHost: x\r\n\r", "hardly an end"),
    ("GET / HTTP/1.1\r\nHost: x\r\n\r\nG", "something behind it"),
    ("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "another one behind it"),
    ("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", "another method"),
    ("get / HTTP/1.1\r\nHost: x\r\n\r\n", "another method still"),
    ("GET / HTTP/1.0\r\nHost: x\r\n\r\n", "an older version"),
    ("GET / HTTP/1.1\nHost: x\n\n", "lines that end otherwise"),
    ("GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", "a target in absolute form"),
    ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "a space too many"),
    ("GET /ä HTTP/1.1\r\nHost: x\r\n\r\n", "a target that is not ASCII"),
    ("GET / HTTP/1.1\r\n\r\n", "no host"), ("GET / HTTP/1.1\r\nHost: x\r\nhOST: x\r\n\r\n", "two hosts"),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "a body, if an empty one"),
    ("GET / HTTP/1.1\r\nHost: x\r\ntransfer-encoding: chunked\r\n\r\n", "a body of unknown length"),
    ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "the end of the connection"),
    ("GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, x\r\n\r\n", "more said of the connection"),
    ("GET / HTTP/1.1\r\nHost: x\r\nProxy-Connection: close\r\n\r\n", "the same by an old name"),
    ("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n", "another protocol"),
    ("GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n", "an interim answer"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", "a folded line"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", "a space before the colon"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA:b\r\n\r\n", "no space behind it"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA: b \r\n\r\n", "a space at the end"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA: \r\n\r\n", "an empty value"),
    ("GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n", "an empty name"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA: b\u{0}\r\n\r\n", "a zero"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n", "a bare carriage return"),
    ("GET / HTTP/1.1\r\nHost: x\r\nA: ä\r\n\r\n", "a value that is not ASCII"),
  ]) func `the rest is for the decoder`(_ text: String, _ reason: String) {
    #expect(Self.read(text) == nil, "\(reason)")
  }

  @Test func `so is one with many fields`() {
    let fields = (1...8).map { "A\($0): b\r\n" }.joined()
    #expect(Self.read("GET / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n", atMost: 9) != nil)
    #expect(Self.read("GET / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n", atMost: 8) == nil)
  }
}

/// A server's reaction to a request: a script of steps, taken in order.
package struct Reply: Sendable {
  /// One step of a script.
  package enum Step: Sendable {
    case send([UInt8])
    /// Until the client leaves or the server stops.
    case sendForever([UInt8])
    /// Until a test opens the gate. If the client leaves or the server stops, the script ends.
    case wait(Gate)
    case pause(milliseconds: Int32)
    /// Closes the connection by a reset.
    case reset
  }

  package var steps: [Step]
  /// Whether the connection can take another request after the last step.
  package var keepsConnection: Bool

  package init(_ steps: [Step], keepsConnection: Bool = false) {
    self.steps = steps
    self.keepsConnection = keepsConnection
  }

  /// A response with an announced length, after which the connection stays open.
  package static func response(
    _ status: Int = 200,
    _ fields: [(String, String)] = [],
    body: [UInt8] = []
  ) -> Reply {
    Reply([.send(head(status, fields + length(of: body)) + body)], keepsConnection: true)
  }

  /// A response without a body that redirects the client.
  package static func redirect(to location: String, _ status: Int = 302) -> Reply {
    response(status, [("Location", location)])
  }

  /// A response in chunks of a size (RFC 9112 §7.1).
  package static func chunked(
    _ fields: [(String, String)] = [],
    body: [UInt8],
    size: Int,
    trailers: [(String, String)] = []
  ) -> Reply {
    var bytes = head(200, fields + [("Transfer-Encoding", "chunked")])
    for start in stride(from: 0, to: body.count, by: size) {
      let chunk = body[start..<min(start + size, body.count)]
      bytes += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
    }
    return Reply([.send(bytes + Array("0\r\n".utf8) + lines(trailers))], keepsConnection: true)
  }

  /// A response that ends when the connection closes.
  package static func closing(_ fields: [(String, String)] = [], body: [UInt8]) -> Reply {
    Reply([.send(head(200, fields + [("Connection", "close")]) + body)])
  }

  /// Status line and fields, with the empty line.
  package static func head(_ status: Int, _ fields: [(String, String)]) -> [UInt8] {
    Array("HTTP/1.1 \(status) \(reasons[status] ?? "Unknown")\r\n".utf8) + lines(fields)
  }

  static func length(of body: [UInt8]) -> [(String, String)] { [("Content-Length", String(body.count))] }

  private static func lines(_ fields: [(String, String)]) -> [UInt8] {
    Array((fields.map { "\($0): \($1)\r\n" } + ["\r\n"]).joined().utf8)
  }

  private static let reasons = [
    200: "OK", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
    304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 404: "Not Found",
    416: "Range Not Satisfiable", 429: "Too Many Requests", 500: "Internal Server Error",
    503: "Service Unavailable",
  ]
}

/// The description has no bytes, because it appears in names of tests.
extension Reply: CustomStringConvertible {
  package var description: String { steps.map(\.description).joined(separator: ", ") }
}

extension Reply.Step: CustomStringConvertible {
  package var description: String {
    switch self {
    case .send(let bytes): "send \(bytes.count) bytes"
    case .sendForever(let bytes): "send \(bytes.count) bytes for ever"
    case .wait: "wait"
    case .pause(let milliseconds): "pause for \(milliseconds) ms"
    case .reset: "reset"
    }
  }
}

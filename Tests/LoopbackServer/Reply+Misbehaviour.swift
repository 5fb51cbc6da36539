extension Reply {
  /// Announces the whole body, sends its first bytes and closes.
  package static func truncated(
    _ body: [UInt8],
    after count: Int,
    _ fields: [(String, String)] = []
  ) -> Reply {
    Reply([.send(head(200, fields + length(of: body)) + body.prefix(count))])
  }

  /// A chunked body that ends without its last chunk.
  package static func truncatedChunks(_ body: [UInt8]) -> Reply {
    let head = head(200, [("Transfer-Encoding", "chunked")])
    return Reply([.send(head + Array("\(String(body.count, radix: 16))\r\n".utf8) + body)])
  }

  /// Sends nothing until the gate opens, then replies as `reply` does.
  package static func held(by gate: Gate, then reply: Reply = .response()) -> Reply {
    Reply([.wait(gate)] + reply.steps, keepsConnection: reply.keepsConnection)
  }

  /// Sends the first bytes of a body, and the rest when the gate opens.
  package static func stalled(
    _ body: [UInt8],
    after count: Int,
    until gate: Gate,
    _ fields: [(String, String)] = []
  ) -> Reply {
    let start = head(200, fields + length(of: body)) + body.prefix(count)
    return Reply([.send(start), .wait(gate), .send(Array(body.dropFirst(count)))], keepsConnection: true)
  }

  /// Sends a body byte by byte with a pause after each.
  package static func drip(_ body: [UInt8], every milliseconds: Int32) -> Reply {
    let bytes = body.flatMap { [Step.send([$0]), .pause(milliseconds: milliseconds)] }
    return Reply([.send(head(200, length(of: body)))] + bytes, keepsConnection: true)
  }

  /// Sends the first bytes of a body.
  ///
  /// Resets the connection when the gate opens, so that the bytes arrive first.
  package static func reset(_ body: [UInt8], after count: Int, when gate: Gate) -> Reply {
    Reply([.send(head(200, length(of: body)) + body.prefix(count)), .wait(gate), .reset])
  }

  /// Resets the connection instead of responding.
  package static let resetAtOnce = Reply([.reset])

  /// Closes the connection instead of responding.
  package static let hangUp = Reply([])

  /// Sends these bytes as they are and closes.
  package static func raw(_ text: String) -> Reply { Reply([.send(Array(text.utf8))]) }

  /// Sends long field lines endlessly.
  package static let endlessHead = Reply([
    .send(Array("HTTP/1.1 200 OK\r\n".utf8)),
    .sendForever(Array("X-More: \(String(repeating: "and more ", count: 100))\r\n".utf8)),
  ])

  /// Sends short field lines endlessly.
  package static let endlessFields = Reply([
    .send(Array("HTTP/1.1 200 OK\r\n".utf8)), .sendForever(Array("X-More: 1\r\n".utf8)),
  ])

  /// Sends a chunked body whose trailer repeats a line endlessly.
  package static func endlessTrailer(_ line: String) -> Reply {
    let head = head(200, [("Transfer-Encoding", "chunked")])
    return Reply([
      .send(head + Array("1\r\na\r\n0\r\n".utf8)), .sendForever(Array("\(line)\r\n".utf8)),
    ])
  }

  /// Sends a chunked body whose first chunk extension never ends (RFC 9112 §7.1.1).
  package static let endlessExtension = Reply([
    .send(head(200, [("Transfer-Encoding", "chunked")]) + Array("10;".utf8)),
    .sendForever(Array(repeating: 0x61, count: 4096)),
  ])

  /// Sends one endless field line.
  package static let endlessLine = Reply([
    .send(Array("HTTP/1.1 200 OK\r\nX-Long: ".utf8)), .sendForever(Array(repeating: 0x61, count: 4096)),
  ])

  /// Sends an endless body without an announced length.
  package static let endlessBody = Reply([
    .send(head(200, [("Connection", "close")])), .sendForever(Array(repeating: 0x61, count: 4096)),
  ])
}

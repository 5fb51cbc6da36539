/// A request as it was received.
package struct Request: Sendable {
  package var method: String
  /// Path and query as sent.
  package var target: String
  package var fields: [(name: String, value: String)]
  package var body: [UInt8]
  /// The number of the connection, from 0.
  package var connection: Int

  /// The target without its query.
  package var path: String { String(target.prefix { $0 != "?" }) }

  /// The value of the first field with this name.
  ///
  /// Nil if there is none.
  package subscript(name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The first requested byte of a range.
  ///
  /// Nil if there is no range.
  package var rangeStart: Int? { self["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } }

  /// Reads the head of a request, without the empty line at its end.
  ///
  /// Nil if it is invalid.
  init?(head: [UInt8], connection: Int) {
    let lines = head.split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0, as: UTF8.self)
    }
    let parts = lines.first?.split(separator: " ") ?? []
    guard parts.count == 3 else { return nil }
    method = String(parts[0])
    target = String(parts[1])
    fields = lines.dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return (String(line[..<colon]), String(value))
    }
    body = []
    self.connection = connection
  }
}

extension JSONValue {
  /// How a value is laid out as text.
  package enum Layout: Sendable {
    /// On one line, as in JSON lines.
    case compact
    /// Two spaces a level, one member a line.
    case indented
  }

  /// The value as JSON text, without a final line feed.
  package func text(_ layout: Layout) -> String {
    var output = ""
    write(to: &output, layout, level: 0)
    return output
  }

  private func write(to output: inout String, _ layout: Layout, level: Int) {
    switch self {
    case .null: output += "null"
    case .bool(let value): output += value ? "true" : "false"
    case .number(let text): output += text
    case .string(let text): Self.write(quoted: text, to: &output)
    case .array(let elements):
      Self.write(elements, "[", "]", to: &output, layout, level) {
        $0.write(to: &$1, layout, level: level + 1)
      }
    case .object(let object):
      Self.write(object.members, "{", "}", to: &output, layout, level) { member, output in
        Self.write(quoted: member.name, to: &output)
        output += layout == .compact ? ":" : ": "
        member.value.write(to: &output, layout, level: level + 1)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element],
    _ open: String,
    _ close: String,
    to output: inout String,
    _ layout: Layout,
    _ level: Int,
    _ one: (Element, inout String) -> Void
  ) {
    output += open
    for (index, element) in elements.enumerated() {
      if index > 0 { output += "," }
      if layout == .indented { output += "\n" + String(repeating: "  ", count: level + 1) }
      one(element, &output)
    }
    if layout == .indented, !elements.isEmpty { output += "\n" + String(repeating: "  ", count: level) }
    output += close
  }

  private static func write(quoted text: String, to output: inout String) {
    output += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": output += "\\\""
      case "\\": output += "\\\\"
      case "\n": output += "\\n"
      case "\r": output += "\\r"
      case "\t": output += "\\t"
      // Also what steers a terminal or turns the direction of reading, in case a person reads it (UAX #9).
      case "\0"..<" ", "\u{7F}"..<"\u{A0}", "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}",
        "\u{2066}"..."\u{2069}":
        let digits = String(scalar.value, radix: 16)
        output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: output.unicodeScalars.append(scalar)
      }
    }
    output += "\""
  }
}

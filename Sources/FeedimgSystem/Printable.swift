/// Text that is safe to print on a terminal.
///
/// Names from items, servers and files may contain any character. Characters that control the terminal or
/// change the direction of text are printed as their code.
package enum Printable {
  /// The text without unsafe characters, except in these sequences.
  package static func text(_ text: String, keeping sequences: [String] = []) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var output = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.first {
      if let sequence = sequences.first(where: { rest.starts(with: $0.unicodeScalars) }) {
        output.append(contentsOf: sequence.unicodeScalars)
        rest = rest.dropFirst(sequence.unicodeScalars.count)
        continue
      }
      if isUnsafe(scalar) {
        output.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      } else {
        output.append(scalar)
      }
      rest = rest.dropFirst()
    }
    return String(output)
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A, 0x09: false
    case 0..<0x20, 0x7F..<0xA0: true
    // Characters that change the direction of text (UAX #9).
    case 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

package import FeedimgModel

/// The directives of `Cache-Control` (RFC 9111 §5.2), as far as they can be read.
package struct CacheControl: Sendable, Hashable {
  /// Directive names in lower case, with their arguments; empty for none.
  private var directives: [String: String] = [:]

  package init(_ fields: HTTPFields) {
    self.init(fields["Cache-Control"] ?? "")
  }

  /// Reads a list of directives; what makes no sense is left out.
  package init(_ text: String) {
    guard !text.isEmpty else { return }
    for element in QuotedList.split(text) {
      let parts = element.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = Self.trimmed(parts[0]).lowercased()
      guard !name.isEmpty else { continue }
      let argument = parts.count > 1 ? QuotedList.unquoted(Self.trimmed(parts[1])) : ""
      // Of several of one name the first counts (§4.2.1).
      if directives[name] == nil { directives[name] = argument }
    }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop { $0 == " " || $0 == "\t" }
    let end = start.lastIndex { $0 != " " && $0 != "\t" }
    return end.map { start[...$0] } ?? ""
  }

  /// Whether a directive is there, whatever its argument.
  package func has(_ name: String) -> Bool { directives[name] != nil }

  /// Whether there is no directive at all.
  var isEmpty: Bool { directives.isEmpty }

  /// The argument of a directive that counts seconds; nil where there is none or it is no such number.
  func seconds(_ name: String) -> Int? { directives[name].flatMap { DeltaSeconds.parse($0) } }

  /// The argument of a directive; empty where it has none, nil where there is no such directive.
  package subscript(name: String) -> String? { directives[name] }
}

/// Lists parted by commas, whose elements may have commas within quotes (RFC 9110 §5.6.1, §5.6.4).
enum QuotedList {
  static func split(_ text: String) -> [Substring] {
    var elements: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.indices {
      switch text[index] {
      case _ where isEscaped: isEscaped = false
      case "\\" where isQuoted: isEscaped = true
      case "\"": isQuoted.toggle()
      case "," where !isQuoted:
        elements.append(text[start..<index])
        start = text.index(after: index)
      default: break
      }
    }
    return elements + [text[start...]]
  }

  /// The content of a quoted string; other text as it is.
  static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
    var content = ""
    var isEscaped = false
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        content.append(character)
        isEscaped = false
      }
    }
    return content
  }
}

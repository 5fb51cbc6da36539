import FeedimgModel

/// URL references as feeds and pages contain them (RFC 3986 §4.1).
enum URLReference {
  /// A reference without white space at its ends, tabs and line feeds; its spaces are encoded, as in browsers.
  static func cleaned(_ text: String) -> String {
    let trimmed = trimmed(text)
    guard trimmed.utf8.contains(where: { $0 <= 0x20 }) else { return trimmed }
    var result = ""
    for scalar in trimmed.unicodeScalars {
      switch scalar {
      case " ": result += "%20"
      case "\t", "\n", "\r": break
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A text without control characters and spaces at its ends.
  static func trimmed(_ text: String) -> String {
    let inside = text.utf8.drop { $0 <= 0x20 }
    guard let last = inside.lastIndex(where: { $0 > 0x20 }) else { return "" }
    return String(Substring(inside[...last]))
  }

  /// The URL of a reference; nil if it is not of http or https.
  static func url(_ reference: String, base: String?) -> ImageURL? {
    let cleaned = cleaned(reference)
    return cleaned.isEmpty ? nil : try? ImageURL(resolve(cleaned, base: base))
  }

  /// Resolves a reference (RFC 3986 §5.2.2).
  ///
  /// - Parameters:
  ///   - reference: The reference, not empty.
  ///   - base: An absolute URL, or nil. Without one, only a reference to another host can be resolved.
  /// - Returns: The reference itself if it is absolute, or cannot be resolved.
  static func resolve(_ reference: String, base: String?) -> String {
    guard !hasScheme(reference) else { return reference }
    guard let base, let scheme = base.firstRange(of: "://") else {
      return reference.hasPrefix("//") ? "https:" + reference : reference
    }
    if reference.hasPrefix("//") { return String(base[..<scheme.lowerBound]) + ":" + reference }
    let rest = base[scheme.upperBound...]
    let pathStart = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    let origin = base[..<pathStart]
    let fragmentStart = rest[pathStart...].firstIndex(of: "#") ?? rest.endIndex
    let queryStart = rest[pathStart..<fragmentStart].firstIndex(of: "?") ?? fragmentStart
    let basePath = rest[pathStart..<queryStart]
    if reference.hasPrefix("#") { return String(base[..<fragmentStart]) + reference }
    if reference.hasPrefix("?") { return origin + basePath + reference }
    let tail = reference.firstIndex { $0 == "?" || $0 == "#" } ?? reference.endIndex
    let path = reference[..<tail]
    let folder = basePath.lastIndex(of: "/").map { basePath[...$0] } ?? "/"
    return origin + withoutDots(path.hasPrefix("/") ? path : folder + path) + reference[tail...]
  }

  private static func hasScheme(_ reference: String) -> Bool {
    guard let end = reference.utf8.firstIndex(where: { ":/?#".utf8.contains($0) }),
      reference.utf8[end] == 0x3A,
      reference.first?.isLetter == true
    else { return false }
    return reference[..<end].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
  }

  /// A path without `.` and `..` segments (RFC 3986 §5.2.4).
  private static func withoutDots(_ path: Substring) -> String {
    var kept: [Substring] = []
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        _ = kept.popLast()
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}

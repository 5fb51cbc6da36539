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

  /// The base that an element sets, such as with `xml:base`, as a URL.
  ///
  /// - Returns: The outer base if the reference is blank, or if the URL is longer than ``FeedLimits/baseLength``.
  static func base(_ reference: String?, outer: String?) -> String? {
    guard let reference = reference?.nonBlank else { return outer }
    let base = resolve(cleaned(reference), base: outer)
    return base.utf8.count <= FeedLimits.baseLength ? base : outer
  }

  /// Resolves a reference (RFC 3986 §5.2.2).
  ///
  /// - Parameters:
  ///   - reference: The reference, not empty.
  ///   - base: An absolute URL, or nil. Without one, only a reference to another host can be resolved.
  /// - Returns: The reference itself if it is absolute, or cannot be resolved.
  static func resolve(_ reference: String, base: String?) -> String {
    guard !hasScheme(reference) else { return reference }
    let base = Array((base ?? "").utf8)
    guard let colon = base.firstIndex(of: UInt8(ascii: ":")), base[colon...].starts(with: "://".utf8) else {
      return reference.hasPrefix("//") ? "https:" + reference : reference
    }
    let reference = Array(reference.utf8)
    if reference.starts(with: "//".utf8) { return text(base[...colon] + reference) }
    let pathStart = base[(colon + 3)...].firstIndex { "/?#".utf8.contains($0) } ?? base.endIndex
    let fragmentStart = base[pathStart...].firstIndex(of: UInt8(ascii: "#")) ?? base.endIndex
    if reference.first == UInt8(ascii: "#") { return text(base[..<fragmentStart] + reference) }
    let queryStart = base[pathStart..<fragmentStart].firstIndex(of: UInt8(ascii: "?")) ?? fragmentStart
    if reference.first == UInt8(ascii: "?") { return text(base[..<queryStart] + reference) }
    let tail = reference.firstIndex { "?#".utf8.contains($0) } ?? reference.endIndex
    var path = reference[..<tail]
    if path.first != slash {
      let folder = base[pathStart..<queryStart]
      path = (folder.lastIndex(of: slash).map { folder[...$0] } ?? [slash]) + path
    }
    return text(base[..<pathStart] + withoutDots(path) + reference[tail...])
  }

  private static func hasScheme(_ reference: String) -> Bool {
    guard let end = reference.utf8.firstIndex(where: { ":/?#".utf8.contains($0) }),
      reference.utf8[end] == 0x3A,
      reference.first?.isLetter == true
    else { return false }
    return reference[..<end].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
  }

  /// A path without `.` and `..` segments (RFC 3986 §5.2.4); it begins with a slash.
  private static func withoutDots(_ path: ArraySlice<UInt8>) -> [UInt8] {
    let hasDots = zip(path, path.dropFirst()).contains { $0 == slash && $1 == UInt8(ascii: ".") }
    guard hasDots else { return Array(path) }
    var (result, start) = ([UInt8](), path.startIndex)
    while start < path.endIndex {
      let end = path[(start + 1)...].firstIndex(of: slash) ?? path.endIndex
      let segment = path[(start + 1)..<end]
      let isUp = segment.elementsEqual("..".utf8)
      if isUp { result.removeSubrange((result.lastIndex(of: slash) ?? 0)...) }
      if !isUp, !segment.elementsEqual(".".utf8) {
        result += path[start..<end]
      } else if end == path.endIndex {
        result.append(slash)
      }
      start = end
    }
    return result
  }

  private static let slash = UInt8(ascii: "/")

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// A reference to a URL in its five parts, not validated (RFC 3986 §4.1 and appendix B).
struct URLReference {
  private var scheme: Substring?
  private var authority: Substring?
  private var path: Substring
  private var query: Substring?
  private var fragment: Substring?

  init(_ text: String) {
    var rest = text[...]
    if let hash = rest.firstIndex(of: "#") {
      fragment = rest[rest.index(after: hash)...]
      rest = rest[..<hash]
    }
    if let mark = rest.firstIndex(of: "?") {
      query = rest[rest.index(after: mark)...]
      rest = rest[..<mark]
    }
    if let colon = rest.firstIndex(of: ":"), Self.isScheme(rest[..<colon]) {
      scheme = rest[..<colon]
      rest = rest[rest.index(after: colon)...]
    }
    if rest.hasPrefix("//") {
      let name = rest.dropFirst(2).prefix { $0 != "/" }
      authority = name
      rest = rest[name.endIndex...]
    }
    path = rest
  }

  /// The absolute URL that the reference stands for where `base` is the URL it was found at (RFC 3986 §5.2).
  func resolved(against base: String) -> String {
    let base = URLReference(base)
    var target = self
    if scheme == nil {
      target.scheme = base.scheme
      if authority == nil {
        target.authority = base.authority
        if path.isEmpty {
          target.path = base.path
          target.query = query ?? base.query
        } else if !path.hasPrefix("/") {
          target.path = base.merged(with: path)
        }
      }
    }
    return target.text
  }

  private func merged(with reference: Substring) -> Substring {
    guard !path.isEmpty || authority == nil else { return "/" + reference }
    guard let slash = path.lastIndex(of: "/") else { return reference }
    return path[...slash] + reference
  }

  private var text: String {
    var text = scheme.map { "\($0):" } ?? ""
    text += authority.map { "//\($0)" } ?? ""
    text += path.hasPrefix("/") ? Self.withoutDots(path) : String(path)
    text += query.map { "?\($0)" } ?? ""
    text += fragment.map { "#\($0)" } ?? ""
    return text
  }

  /// Takes the steps `.` and `..` (RFC 3986 §5.2.4); the path begins with a slash, and so does the result.
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

  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.first, first.isASCII, first.isLetter else { return false }
    return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
  }
}

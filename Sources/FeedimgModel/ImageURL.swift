import CXXHash

/// An absolute `http` or `https` URL of an image.
///
/// Checks only what is needed before a transfer (RFC 3986 §3); libcurl checks the rest.
public struct ImageURL: Sendable, Hashable, CustomStringConvertible {
  /// The URL as the caller gave it.
  public var text: String { storage.text }
  /// Lower case, without brackets.
  public var host: String { storage.host }
  /// The cache key: scheme and host in lower case, no default port, no fragment (RFC 3986 §6.2).
  ///
  /// It has a hash in place of the user and password, so that no file of the cache contains them.
  public var key: String { storage.key }
  /// The URL without the user and password, for people, messages and other programs.
  public var description: String { storage.description }

  private let storage: Storage

  /// The texts in one object, because items, loads and messages copy URLs often.
  private final class Storage: Sendable, Hashable {
    let text: String
    let host: String
    let key: String
    let description: String

    init(_ text: String, _ parts: Parts) {
      self.text = text
      host = parts.host
      key = parts.key ?? text
      // Most URLs are their own key, and these have no user.
      description = parts.key == nil ? text : ImageURL.withoutCredentials(text)
    }

    static func == (left: Storage, right: Storage) -> Bool { left.text == right.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
  }

  /// The length limit in bytes, a common limit of servers.
  public static let maximumLength = 8192

  /// - Throws: ``ImageURLError``.
  public init(_ text: String) throws(ImageURLError) {
    guard text.utf8.count <= Self.maximumLength else { throw .tooLong(text.utf8.count) }
    guard !text.isEmpty else { throw .empty }
    var text = text
    let isPlain = text.withUTF8 { $0.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") } }
    if !isPlain {
      guard text.unicodeScalars.allSatisfy(Self.isVisible) else { throw .whiteSpace }
      // A backslash is invalid (RFC 3986 §2). Some parsers read it as `/`, others as part of the user or
      // host.
      guard !text.utf8.contains(UInt8(ascii: "\\")) else { throw .backslash }
    }
    let parts = try text.withUTF8 { bytes in Result { () throws(ImageURLError) in try Parts(bytes) } }.get()
    storage = Storage(text, parts)
  }

  /// The separator before a hash of credentials at the end of a key; URLs have no spaces.
  package static let hashMark = " by "

  /// The end of a key that names the user and password of a URL by a hash.
  ///
  /// The origin includes scheme, host and port, so that equal passwords of two hosts differ.
  fileprivate static func hash(of origin: String) -> String {
    var origin = origin
    return hashMark + origin.withUTF8 { feedimg_xxh3_hash($0.baseAddress, $0.count) }.hexadecimal
  }

  /// A text such as a header field without `user:password@` in any URL that it contains.
  package static func hidingCredentials(in text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
    let ends = "/?#<>\",; ".utf8
    var (result, rest) = ("", Substring(text))
    while let start = rest.firstRange(of: "//") {
      result += rest[..<start.upperBound]
      rest = rest[start.upperBound...]
      let authority = rest.utf8.prefix { !ends.contains($0) }
      if let at = authority.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.utf8.index(after: at)...] }
    }
    return result + rest
  }

  /// A URL, a text that was to be one, or a key, without `user:password@` and hashes.
  package static func withoutCredentials(_ text: String) -> String {
    var rest = text[...]
    // A key has at most two hashes: that of its user, and that of an account in the header fields.
    for _ in 0..<2
    where rest.utf8.suffix(20).starts(with: hashMark.utf8) && UInt64(rest.suffix(16), radix: 16) != nil {
      rest = rest.dropLast(20)
    }
    let bytes = rest.utf8
    guard bytes.contains(UInt8(ascii: "@")), let scheme = rest.firstRange(of: "://") else {
      return String(rest)
    }
    let authority = bytes[scheme.upperBound...].prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
    }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return String(rest) }
    return String(rest[..<scheme.upperBound]) + String(Substring(bytes[bytes.index(after: at)...]))
  }

  /// A text that was to be a URL, for a message: at most 80 characters, without the user and password.
  package static func shown(_ text: String) -> String {
    let text = withoutCredentials(text)
    return text.count > 80 ? text.prefix(77) + "..." : text
  }

  /// The scheme, host and port, which identify a server (RFC 6454 §4), such as `https://x.example`.
  ///
  /// In lower case, without a default port.
  public var origin: String {
    // The key has the form `scheme://host[:port]/…`, in lower case, without a user and without a default port.
    let bytes = key.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return key }
    let start = bytes.index(colon, offsetBy: 3)
    return String(key[..<(bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex)])
  }

  /// Whether the host is this machine by name alone, so that no network is needed.
  public var isLoopback: Bool {
    isIPv4Loopback || host == "::1" || host == "localhost" || host.hasSuffix(".localhost")
  }

  /// Whether the scheme is `https`, read from the fifth byte of the key.
  package var isSecure: Bool {
    key.utf8.withContiguousStorageIfAvailable { $0[4] == UInt8(ascii: "s") } ?? key.hasPrefix("https:")
  }

  private var isIPv4Loopback: Bool {
    // Accept digits and dots only; `UInt8` would also accept a sign.
    guard host.hasPrefix("127."), host.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) }) else {
      return false
    }
    let octets = host.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets.allSatisfy { UInt8($0) != nil }
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value > 0x20 && scalar.value != 0x7F }
    return !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
  }
}

extension UInt64 {
  /// Sixteen hexadecimal digits in lower case.
  package var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// Why a text is not a valid image URL.
///
/// The description continues a sentence after "but".
public enum ImageURLError: Error, Sendable, Hashable, CustomStringConvertible {
  case empty
  case relative
  case scheme(String)
  case noHost
  case port(String)
  case whiteSpace
  case backslash
  /// The length in bytes.
  case tooLong(Int)

  /// The reason, to continue a sentence after "but", such as `is relative`.
  public var description: String {
    switch self {
    case .empty: "is empty"
    case .relative: "is relative"
    case .scheme(let scheme): "has the scheme `\(scheme)`"
    case .noHost: "has no host"
    case .port(let text): "has the port `\(text)`, which is not from 1 to 65535"
    case .whiteSpace: "contains white space or a control character"
    case .backslash: "contains a backslash"
    case .tooLong(let bytes): "is \(bytes) bytes long, over the limit of \(ImageURL.maximumLength)"
    }
  }
}

extension ImageURL {
  /// The parts of a URL, parsed as bytes, because all delimiters are ASCII.
  ///
  /// As a `Character`, a `/` followed by a combining accent would not be a slash.
  struct Parts {
    var host: String
    /// Nil if the text is its own key, as for most URLs, to avoid a copy.
    var key: String?

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// - Parameter bytes: UTF-8 without white space, control characters and backslashes.
    /// - Throws: ``ImageURLError``.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageURLError) {
      if let host = Self.plainHost(bytes) {
        self.host = host
        return
      }
      guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]) else {
        throw .relative
      }
      let scheme = Self.text(bytes[..<colon]).lowercased()
      guard scheme == "http" || scheme == "https" else { throw .scheme(scheme) }
      let rest = bytes[(colon + 1)...]
      guard rest.starts(with: "//".utf8) else { throw .noHost }
      let authority = rest.dropFirst(2).prefix {
        $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
      }
      let user = authority[
        ..<(authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex)
      ]
      let (host, port) = try Self.split(authority[user.endIndex...])

      self.host = host
      let shownHost = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
      let defaultPort = scheme == "http" ? 80 : 443
      let place = port.map { $0 == defaultPort ? shownHost : shownHost + ":" + String($0) } ?? shownHost
      let tail = bytes[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") }
      let isRooted = tail.first == UInt8(ascii: "/")
      let hasCredentials = user.count > 1
      let isKey =
        user.isEmpty && isRooted && tail.endIndex == bytes.endIndex
        && bytes[..<colon].elementsEqual(scheme.utf8)
        && authority[user.endIndex...].elementsEqual(place.utf8)
      guard !isKey else { return }
      key =
        "\(scheme)://\(place)\(isRooted ? "" : "/")\(Self.text(tail))"
        + (hasCredentials ? ImageURL.hash(of: "\(scheme)://\(Self.text(user))\(place)") : "")
    }

    /// The host of a URL that is its own key and has no user name; nil for URLs that need the general parser.
    private static func plainHost(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
      let isSecure = bytes.count > 8 && bytes[4] == UInt8(ascii: "s")
      guard bytes.starts(with: isSecure ? "https://".utf8 : "http://".utf8) else { return nil }
      let start = isSecure ? 8 : 7
      guard let end = bytes[start...].firstIndex(where: { !isPlain($0) }), end > start else { return nil }
      var place = end
      if bytes[place] == UInt8(ascii: ":") {
        var port = 0
        place += 1
        guard place < bytes.count, bytes[place] != UInt8(ascii: "0") else { return nil }
        while place < bytes.count, port <= 65_535, isDigit(bytes[place]) {
          port = port * 10 + Int(bytes[place] - UInt8(ascii: "0"))
          place += 1
        }
        guard (1...65_535).contains(port), port != (isSecure ? 443 : 80) else { return nil }
      }
      guard place < bytes.count, bytes[place] == UInt8(ascii: "/"),
        !bytes[place...].contains(UInt8(ascii: "#"))
      else { return nil }
      return text(bytes[start..<end])
    }

    /// Whether a byte is a lower-case letter, digit, hyphen or dot.
    private static func isPlain(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || isDigit(byte) || byte == UInt8(ascii: "-")
        || byte == UInt8(ascii: ".")
    }

    private static func split(_ bytes: Bytes) throws(ImageURLError) -> (host: String, port: Int?) {
      var host = bytes
      var digits = bytes.suffix(0)
      if bytes.first == UInt8(ascii: "[") {
        guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { throw .noHost }
        host = bytes[(bytes.startIndex + 1)..<close]
        let after = bytes[(close + 1)...]
        guard after.isEmpty || after.first == UInt8(ascii: ":") else { throw .noHost }
        digits = after.dropFirst()
      } else if let colon = bytes.lastIndex(of: UInt8(ascii: ":")) {
        host = bytes[..<colon]
        digits = bytes[(colon + 1)...]
      }
      guard !host.isEmpty else { throw .noHost }
      let lowercased = text(host).lowercased()
      guard !digits.isEmpty else { return (lowercased, nil) }
      let portText = text(digits)
      guard digits.allSatisfy(isDigit), let port = Int(portText), (1...65_535).contains(port) else {
        throw .port(portText)
      }
      return (lowercased, port)
    }

    private static func isScheme(_ bytes: Bytes) -> Bool {
      guard let first = bytes.first, isLetter(first) else { return false }
      return bytes.allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func text(_ bytes: Bytes) -> String {
      String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
    }
  }
}

/// An absolute `http` or `https` URL that an image may be fetched from.
///
/// Only what matters before a transfer is read here (RFC 3986 §3); libcurl does the rest.
public struct ImageURL: Sendable, Hashable, CustomStringConvertible {
  /// The URL as it was given.
  public let text: String
  /// Lower case, without brackets.
  public let host: String
  /// What a cache compares: scheme and host in lower case, no default port, no fragment (RFC 3986 §6.2).
  public let key: String

  /// Longer URLs are refused, as servers commonly do; in bytes.
  public static let greatestLength = 8192

  /// - Throws: ``ImageURLError`` with the reason.
  public init(_ text: String) throws(ImageURLError) {
    guard text.utf8.count <= Self.greatestLength else { throw .tooLong(text.utf8.count) }
    guard !text.isEmpty else { throw .empty }
    var text = text
    let isPlain = text.withUTF8 { $0.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") } }
    if !isPlain {
      guard text.unicodeScalars.allSatisfy(Self.isVisible) else { throw .whiteSpace }
      // No URL has one (RFC 3986 §2); some readers take it for `/`, others for a part of the user or the host.
      guard !text.utf8.contains(UInt8(ascii: "\\")) else { throw .backslash }
    }
    let parts = try text.withUTF8 { bytes in Result { () throws(ImageURLError) in try Parts(bytes) } }.get()
    self.text = text
    host = parts.host
    key = parts.key ?? text
  }

  /// The URL without the user and password, for people, messages and other programs.
  public var description: String { Self.withoutCredentials(text) }

  /// A URL, or a text that was to be one, without `user:password@`.
  package static func withoutCredentials(_ text: String) -> String {
    let bytes = text.utf8
    guard bytes.contains(UInt8(ascii: "@")), let scheme = text.firstRange(of: "://") else { return text }
    let authority = bytes[scheme.upperBound...].prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
    }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return text }
    return String(text[..<scheme.upperBound]) + String(Substring(bytes[bytes.index(after: at)...]))
  }

  /// Whether the host is this machine by name alone, so that no network is needed.
  public var isLoopback: Bool {
    isIPv4Loopback || host == "::1" || host == "localhost" || host.hasSuffix(".localhost")
  }

  private var isIPv4Loopback: Bool {
    guard host.utf8.first == UInt8(ascii: "1") else { return false }
    // Digits and dots alone, where `Int` would take a sign as well.
    var (octet, dots) = (nil as Int?, 0)
    for byte in host.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let number = (octet ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
        guard number <= 255 else { return false }
        octet = number
      case UInt8(ascii: "."):
        guard let number = octet, dots > 0 || number == 127 else { return false }
        (octet, dots) = (nil, dots + 1)
      default: return false
      }
    }
    return octet != nil && dots == 3
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value > 0x20 && scalar.value != 0x7F }
    return !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
  }
}

/// Why a text is no URL that an image may be fetched from; reads on after "but".
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

  /// Reads on after "but", such as `is relative`.
  public var description: String {
    switch self {
    case .empty: "is empty"
    case .relative: "is relative"
    case .scheme(let scheme): "has the scheme `\(scheme)`"
    case .noHost: "names no host"
    case .port(let text): "has the port `\(text)`, which is not from 1 to 65535"
    case .whiteSpace: "contains white space or a control character"
    case .backslash: "contains a backslash"
    case .tooLong(let bytes): "is \(bytes) bytes long, over the limit of \(ImageURL.greatestLength)"
    }
  }
}

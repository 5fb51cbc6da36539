/// An absolute `http` or `https` URL of an image.
///
/// Checks only what is needed before a transfer (RFC 3986 §3); libcurl checks the rest.
public struct ImageURL: Sendable, Hashable, CustomStringConvertible {
  /// The URL as the caller gave it.
  public let text: String
  /// Lower case, without brackets.
  public let host: String
  /// The cache key: scheme and host in lower case, no default port, no fragment (RFC 3986 §6.2).
  public let key: String

  /// The length limit in bytes, a common limit of servers.
  public static let greatestLength = 8192

  /// - Throws: ``ImageURLError``.
  public init(_ text: String) throws(ImageURLError) {
    guard text.utf8.count <= Self.greatestLength else { throw .tooLong(text.utf8.count) }
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
    self.text = text
    host = parts.host
    key = parts.key ?? text
  }

  /// The URL as the caller gave it.
  public var description: String { text }

  /// Whether the host is this machine by name alone, so that no network is needed.
  public var isLoopback: Bool {
    isIPv4Loopback || host == "::1" || host == "localhost" || host.hasSuffix(".localhost")
  }

  private var isIPv4Loopback: Bool {
    guard host.utf8.first == UInt8(ascii: "1") else { return false }
    // Accept digits and dots only; `Int` would also accept a sign.
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

/// Why a text is not a valid image URL. The description continues a sentence after "but".
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
    case .tooLong(let bytes): "is \(bytes) bytes long, over the limit of \(ImageURL.greatestLength)"
    }
  }
}

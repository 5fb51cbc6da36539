/// Small pictures that any decoder can open.
package enum SampleImage {
  /// 8 × 8 pixels, JPEG.
  package static let jpeg = decode(
    """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdB\
    RkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P\
    T09PT09PT09PT09PT0//wAARCAAIAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAZEAEAAgMAAAAAAAAA\
    AAAAAAAABQYiMaH/xAAVAQEBAAAAAAAAAAAAAAAAAAADBP/EABwRAAEDBQAAAAAAAAAAAAAAAAMAAQQFEhMhMf/aAAwDAQAC\
    EQMRAD8AmjK7rDgCU0st/UlMnGwNtf/Z
    """
  )

  /// 4 × 4 pixels, WebP.
  package static let webp = decode(
    """
    UklGRkYAAABXRUJQVlA4IDoAAADwAQCdASoEAAQAAsBMJZACdEyAAdWtwlwA/q1Gm/gLXKI3cX+nnN+N3+vpx9f9Txo85uaz\
    6Ivz+iAA
    """
  )

  /// 4 × 4 pixels, PNG.
  package static let png = decode(
    """
    iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAH0lEQVR42mNkYGiwZ2BwYGBwYGBgYbBngAMWBgccHABNiwIM\
    etRnYAAAAABJRU5ErkJggg==
    """
  )

  /// 2 × 2 pixels, GIF.
  package static let gif = decode(
    """
    R0lGODdhAgACAIEAAH9/gAB/gH8AgAAAgCwAAAAAAgACAAAIBwAHCAgAICAAOw==
    """
  )

  /// Base64 (RFC 4648 §4).
  private static func decode(_ text: String) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    for letter in text.utf8 {
      guard let value = alphabet.firstIndex(of: letter) else { continue }
      bits = bits << 6 | value
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> count))
    }
    return bytes
  }
}

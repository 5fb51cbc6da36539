import FeedimgModel
import Glibc

/// The fields that came last over a connection, since most clients send the same ones with every request.
struct LatestFields {
  /// Longer ones are read each time, so that connections that wait take little; in bytes.
  private static let greatestLength = 2048

  private var latest: (lines: [UInt8], fields: HTTPFields)?

  /// What the lines say.
  ///
  /// - Parameters:
  ///   - lines: As they came.
  ///   - read: Reads other ones than the last; must find the same each time.
  /// - Returns: Nil where they are not understood, which is not kept.
  mutating func fields(
    in lines: UnsafeRawBufferPointer,
    _ read: (UnsafeRawBufferPointer) -> HTTPFields?
  ) -> HTTPFields? {
    if let latest, Self.isSame(lines, latest.lines) { return latest.fields }
    guard let read = read(lines) else { return nil }
    if lines.count <= Self.greatestLength { latest = (Array(lines), read) }
    return read
  }

  private static func isSame(_ lines: UnsafeRawBufferPointer, _ known: [UInt8]) -> Bool {
    guard lines.count == known.count else { return false }
    return known.withUnsafeBytes { known in
      guard let one = lines.baseAddress, let other = known.baseAddress else { return false }
      return memcmp(one, other, known.count) == 0
    }
  }
}

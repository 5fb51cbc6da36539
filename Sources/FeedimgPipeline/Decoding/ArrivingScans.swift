import FeedimgModel

/// Chooses what of an image that is arriving is worth to be decoded before it is whole (pure).
///
/// A few scans at most, each a good part longer than the one before, and none when the whole is about to be there: so
/// that all of them together cost about as much as the image itself.
struct ArrivingScans: Sendable {
  /// The most scans of one transfer.
  static let greatestCount = 4
  /// How much longer each is than the one before.
  static let growth = 1.5
  /// Of less than this, no scan is worth while.
  static let leastPart = 1.0 / 16
  /// Of more than this, the whole is worth waiting for.
  static let greatestPart = 0.75

  /// The beginning of an image, which shows all of the picture.
  struct Scan: Sendable {
    /// From 1, in the order in which they came.
    var number: Int
    var bytes: [UInt8]
  }

  private var finder = ScanFinder()
  private var latest: Scan?

  /// The latest that is worth it.
  ///
  /// - Parameters:
  ///   - bytes: All of the image that is there.
  ///   - total: How many there will be, where that was announced.
  /// - Returns: The same as before where there is none that is newer.
  mutating func latest(in bytes: [UInt8], of total: Int?) -> Scan? {
    let count = latest?.number ?? 0
    guard count < Self.greatestCount, let end = finder.end(in: bytes) else { return latest }
    let isLonger = Double(end) >= Double(latest?.bytes.count ?? 0) * Self.growth
    let part = total.map { Double(end) / Double(max($0, 1)) } ?? Self.leastPart
    guard isLonger, (Self.leastPart...Self.greatestPart).contains(part) else { return latest }
    latest = Scan(number: count + 1, bytes: Array(bytes[..<end]))
    return latest
  }
}

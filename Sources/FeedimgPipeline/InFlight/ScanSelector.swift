import FeedimgModel

/// Chooses which scans of a progressive image to decode while the image arrives (pure).
///
/// It chooses a few scans, each much longer than the one before, and none when the image is almost complete.
/// All chosen scans together cost about as much to decode as the image itself.
struct ScanSelector: Sendable {
  /// The largest number of scans of one image.
  static let maximumCount = 4
  /// The least ratio of the length of a scan to the length of the scan before it.
  static let growth = 1.5
  /// The least part of the image that a scan must contain.
  static let minimumPart = 1.0 / 16
  /// The largest part of the image that a scan may contain; beyond it, the complete image follows soon.
  static let maximumPart = 0.75

  /// The first bytes of an image, which already show the complete picture with less detail.
  struct Scan: Sendable {
    /// Counts from 1 in order of arrival.
    var number: Int
    var bytes: [UInt8]
  }

  private var finder = ScanFinder()
  private var latest: Scan?

  /// Returns the latest scan to decode.
  ///
  /// - Returns: The previous scan again if no newer one should be decoded; nil if there is none yet.
  mutating func latest(in bytes: [UInt8], of total: Int?) -> Scan? {
    let count = latest?.number ?? 0
    guard count < Self.maximumCount, let end = finder.end(in: bytes) else { return latest }
    let isLonger = Double(end) >= Double(latest?.bytes.count ?? 0) * Self.growth
    let part = total.map { Double(end) / Double(max($0, 1)) } ?? Self.minimumPart
    guard isLonger, (Self.minimumPart...Self.maximumPart).contains(part) else { return latest }
    latest = Scan(number: count + 1, bytes: Array(bytes[..<end]))
    return latest
  }
}

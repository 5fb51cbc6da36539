import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The scans that are worth decoding.
struct ArrivingScansTests {
  /// The lengths of the chosen scans of an image that arrives in pieces of the given length.
  private func chosen(_ bytes: [UInt8], by piece: Int, of total: Int?) -> [Int] {
    var scans = ScanSelector()
    var lengths: [Int] = []
    for count in stride(from: piece, through: bytes.count, by: piece) {
      guard let scan = scans.latest(in: Array(bytes.prefix(count)), of: total) else { continue }
      if scan.number > lengths.count { lengths.append(scan.bytes.count) }
      #expect(scan.number == lengths.count && scan.bytes == Array(bytes.prefix(scan.bytes.count)))
    }
    return lengths
  }

  @Test func `each chosen scan is much longer than the one before, and the last scan waits for the end`()
    throws
  {
    let bytes = try Clouds.bytes()
    #expect(chosen(bytes, by: 1, of: bytes.count) == [883, 1433, 3261])
    #expect(chosen(bytes, by: 1000, of: bytes.count) == [883, 1975, 3793])
    #expect(chosen(bytes, by: 5000, of: bytes.count) == [4150], "all bytes came at once")
    #expect(chosen(bytes, by: 6000, of: nil) == [4150], "the length is unknown")
    #expect(chosen(bytes, by: bytes.count, of: bytes.count).isEmpty, "it is complete")
  }

  @Test func `the number of chosen scans is small for any number of scans`() {
    let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 1] + [UInt8](repeating: 5, count: 40)
    let head: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC2, 0, 17] + [UInt8](repeating: 0, count: 15)
    let bytes = head + Array(repeatElement(scan, count: 1000).joined())
    #expect(chosen(bytes, by: 50, of: nil).count == ScanSelector.maximumCount)
  }
}

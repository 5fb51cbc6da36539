import FeedimgModel
import Testing

/// The ends of the scans of an arriving image.
struct ScanFinderTests {
  private static let start: [UInt8] = [0xFF, 0xD8]
  private static let tables: [UInt8] = [0xFF, 0xDB, 0, 4, 0xFF, 0xDA, 0xFF, 0xC4, 0, 2]
  private static let end: [UInt8] = [0xFF, 0xD9]

  /// A JPEG whose frame header has this marker.
  private static func frame(_ marker: UInt8) -> [UInt8] {
    [0xFF, marker, 0, 17] + [UInt8](repeating: 0, count: 15)
  }

  private static func scan(_ data: [UInt8]) -> [UInt8] { [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 1] + data }

  private static let head = start + tables + frame(0xC2)
  private static let scans = [scan([1, 2, 3]), scan([0xFF, 0, 0xFF, 0xD3, 9]), scan([7, 0xFF])]

  static let rows: [(String, [UInt8], Int?)] = [
    ("nothing", [], nil), ("a text", Array("nothing that looks like an image".utf8), nil),
    ("a head", head, nil), ("a scan that may continue", head + scans[0], nil),
    ("a scan followed by a marker", head + scans[0] + [0xFF, 0xC4], head.count + scans[0].count),
    ("half a marker", head + scans[0] + [0xFF], nil),
    (
      "bytes and restart markers within a scan do not end it", head + scans[0] + scans[1] + end,
      head.count + scans[0].count + scans[1].count
    ), ("the marker of the next scan is incomplete", head + scans[0] + scans[2], head.count + scans[0].count),
    ("a baseline picture", start + tables + frame(0xC0) + scans[0] + end, nil),
    ("a segment of length zero", head + [0xFF, 0xC4, 0, 0] + scans[0] + end, nil),
    ("a marker is missing", head + [1, 2] + scans[0] + end, nil),
    (
      "fill bytes before a marker", head + scans[0] + [0xFF, 0xFF, 0xC4, 0, 2],
      head.count + scans[0].count + 1
    ),
  ]

  @Test(arguments: rows)
  func `complete scans are found`(_ name: String, _ bytes: [UInt8], _ expected: Int?) {
    var finder = ScanFinder()
    #expect(finder.end(in: bytes) == expected)
    #expect(finder.end(in: bytes) == expected, "asked again")
    // The image arrives byte by byte.
    var slow = ScanFinder()
    var last: Int?
    for count in 0...bytes.count { last = slow.end(in: Array(bytes.prefix(count))) ?? last }
    #expect(last == expected)
  }

  @Test(arguments: [(0 as UInt8, nil as Int?), (1, 40)])
  func `each byte may sharpen an interlaced PNG`(_ method: UInt8, _ expected: Int?) {
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
    bytes += Array("IHDR".utf8) + [UInt8](repeating: 1, count: 24)
    bytes[28] = method
    var finder = ScanFinder()
    #expect(finder.end(in: bytes) == expected)
  }
}

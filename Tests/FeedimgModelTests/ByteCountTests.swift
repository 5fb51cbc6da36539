import FeedimgModel
import Testing

struct ByteCountTests {
  static let read: [(text: String, bytes: Int?)] = [
    ("0", 0), ("4096", 4096), ("1 B", 1), ("300kB", 300_000), ("300 KB", 300_000), ("512 MiB", 512 << 20),
    ("1.5 GB", 1_500_000_000), ("1.5 KiB", 1536), (".5 kB", 500), ("2 TiB", 2 << 40), ("1   MB", 1_000_000),
    ("9223372036854775807", .max), ("9007199254740993", 9_007_199_254_740_993),
    ("9223372036854775807 B", .max),
    ("", nil), (" ", nil), ("MiB", nil), ("-1", nil), ("+1", nil), ("1 mib", nil), ("1 XB", nil),
    ("1e3", nil),
    ("1..5 MB", nil), ("1,5 MB", nil), ("0x10", nil), ("inf", nil), ("nan", nil),
    ("9223372036854775808", nil),
    ("9999999999 TiB", nil), ("8388608 TiB", nil), ("١ MB", nil), ("1 MB ", nil), (" 1 MB", nil), (".", nil),
  ]

  @Test(arguments: read)
  func `a size is read in common notations, or refused`(_ text: String, _ bytes: Int?) {
    #expect(ByteCount(text)?.bytes == bytes)
  }

  static let shown: [(bytes: Int, exact: String, rounded: String)] = [
    (0, "0 B", "0 B"), (999, "999 B", "999 B"), (1000, "1 kB", "1 kB"), (1024, "1 KiB", "1.02 kB"),
    (1026, "1026 B", "1.03 kB"), (300_000, "300 kB", "300 kB"), (999_499, "999499 B", "999 kB"),
    (999_500, "999500 B", "1 MB"), (1_250_000, "1250 kB", "1.25 MB"), (9_996_000, "9996 kB", "10 MB"),
    (512 << 20, "512 MiB", "537 MB"), (1 << 30, "1 GiB", "1.07 GB"),
    (2_000_000_000, "2 GB", "2 GB"), (1024 * 1000, "1000 KiB", "1.02 MB"),
    (.max, "9223372036854775807 B", "9223372 TB"),
  ]

  @Test(arguments: shown)
  func `a size is shown exactly, or rounded for people`(_ bytes: Int, _ exact: String, _ rounded: String) {
    #expect(ByteCount(bytes).description == exact)
    #expect(ByteCount(exact)?.bytes == bytes)
    #expect(ByteCount(bytes).rounded == rounded)
  }

  @Test func `a size is never negative`() {
    #expect(ByteCount(-1) == ByteCount(0))
    #expect(ByteCount(.min) == ByteCount(0))
    #expect(ByteCount(1) < ByteCount(2))
    #expect(ByteCount.mebibytes(64).bytes == 67_108_864)
  }
}

import FeedimgModel
import Testing

struct HTTPDateTests {
  /// 2026-11-21.
  private static let now = 1_795_219_200

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
    ("Wednesday, 01-Jan-76 00:00:00 GMT", 3_345_062_400), ("Saturday, 01-Jan-77 00:00:00 GMT", 220_924_800),
    ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
    ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800), ("Fri, 31 Dec 9999 23:59:60 GMT", 253_402_300_800),
    ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800), ("Sun Nov 16 08:49:37 1994", 784_975_777),
    ("SUN, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sun, 06 NOV 1994 08:49:37 GMT", 784_111_777),
  ])
  func `a date in any format of HTTP is read`(text: String, expected: Int) {
    #expect(HTTPDate.seconds(text, now: Self.now) == expected)
  }

  @Test(arguments: [
    "", "0", "-1", "tomorrow", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2100 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, 06 Nov 194 08:49:37 GMT",
    "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sun, 06 Nov 1994",
    "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37.5 GMT", "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
    "Sun,  6 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sunday 06-Nov-94 08:49:37 GMT",
    "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94",
    "Sun, Nov  6 08:49:37 1994",
    "Sun, 06 Nov 1994 ::: GMT", "Sun, 06 Nov 1994 08:49:3x GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
  ])
  func `any other text is not a date`(text: String) {
    #expect(HTTPDate.seconds(text, now: Self.now) == nil)
  }

  @Test(arguments: [("70", 2070), ("76", 2076), ("77", 1977), ("94", 1994), ("26", 2026)])
  func `a year of two digits is at most 50 years ahead`(digits: String, year: Int) throws {
    let short = try #require(HTTPDate.seconds("Sunday, 06-Nov-\(digits) 00:00:00 GMT", now: Self.now))
    #expect(short == HTTPDate.seconds("Sun, 06 Nov \(year) 00:00:00 GMT", now: 0))
  }

  @Test func `a formatted date is read as the same date`() {
    // From the year 69 to the year 5138.
    for seconds in stride(from: -60_000_000_000, to: 100_000_000_000, by: 987_654_321) {
      #expect(HTTPDate.seconds(HTTPDate.text(seconds), now: 0) == seconds)
    }
    #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.text(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
  }

  @Test(arguments: [Int.min, .max]) func `no number crashes`(seconds: Int) {
    #expect(HTTPDate.text(seconds).hasSuffix(" GMT"))
    _ = HTTPDate.seconds("Sunday, 06-Nov-94 08:49:37 GMT", now: seconds)
  }
}

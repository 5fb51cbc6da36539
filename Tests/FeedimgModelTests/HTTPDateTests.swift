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
  ])
  func `a date in any format of HTTP is read`(text: String, expected: Int) {
    #expect(HTTPDate.seconds(text, now: Self.now) == expected)
  }

  @Test(arguments: [
    "", "0", "-1", "tomorrow", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2100 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, 06 Nov 194 08:49:37 GMT",
    "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT GMT",
  ])
  func `anything else is no date`(text: String) {
    #expect(HTTPDate.seconds(text, now: Self.now) == nil)
  }
}

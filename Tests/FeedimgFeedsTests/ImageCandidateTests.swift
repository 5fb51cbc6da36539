import Testing

@testable import FeedimgFeeds

/// `srcset` as browsers parse it (WPT `parse-a-srcset-attribute.html`).
@Suite struct ImageCandidateTests {
  static let attributes: [(String, [String])] = [
    ("", []), (",", []), (",,,", []), ("  a 1x", ["a 1.0x"]), ("a", ["a 1.0x"]), ("a,", ["a 1.0x"]),
    ("a ,", ["a 1.0x"]), ("a,,,", ["a 1.0x"]), (", a", ["a 1.0x"]), ("a, b 2x", ["a 1.0x", "b 2.0x"]),
    ("a,b 2x", ["a,b 2.0x"]), ("a 1x,b 2x", ["a 1.0x", "b 2.0x"]),
    ("data:,a 1x", ["data:,a 1.0x"]), ("data:,a,b", ["data:,a,b 1.0x"]),
    ("a 100w, b 200w", ["a 100w", "b 200w"]), ("a\n100w\t,\u{C}b 200w", ["a 100w", "b 200w"]),
    ("a 100w 50h", ["a 100w"]), ("a 50h 100w", ["a 100w"]), ("a 50h", []), ("a 1x 50h", []),
    ("a 1x 100w", []),
    ("a 100w 100w", []), ("a 1x 1x", []), ("a 0w", []), ("a 0h 1w", []), ("a -1w", []), ("a +1w", []),
    ("a 1.0w", []), ("a 1e1w", []), ("a w", []), ("a 1W", []), ("a 1w ,b", ["a 1w", "b 1.0x"]),
    ("a 0x", ["a 0.0x"]), ("a -0x", ["a -0.0x"]), ("a -1x", []), ("a 1.5x", ["a 1.5x"]),
    ("a .5x", ["a 0.5x"]),
    ("a 1.x", []), ("a +1x", []), ("a 1e0x", ["a 1.0x"]), ("a 1E+1x", ["a 10.0x"]), ("a 1ex", []),
    ("a infx", []), ("a nanx", []), ("a 0x1px", []), ("a x", []), ("a 1X", []), ("a 1q, b", ["b 1.0x"]),
    ("a (, 1x, b 2x", []), ("a (,), b 2x", ["b 2.0x"]), ("a 1x(, b 2x), c", ["c 1.0x"]),
    ("a 100w, b 100w, c 200w", ["a 100w", "c 200w"]), ("a 1x, b, c 2x", ["a 1.0x", "c 2.0x"]),
    ("a 99999999999999999999w", []),
  ]

  @Test(arguments: attributes) func `a srcset attribute`(attribute: String, expected: [String]) {
    let found = ImageCandidate.candidates(in: attribute).map { candidate in
      "\(candidate.url) \(candidate.width.map { "\($0)w" } ?? "\(candidate.density)x")"
    }
    #expect(found == expected)
  }

  @Test func `candidates beyond the limit are ignored`() {
    let attribute = (1...FeedLimits.candidates + 1).map { "a \($0)w" }.joined(separator: ",")
    #expect(ImageCandidate.candidates(in: attribute).map(\.width) == (1...FeedLimits.candidates).map { $0 })
  }
}

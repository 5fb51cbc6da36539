import FeedimgModel
import Testing

struct SpellingTests {
  static let rows: [(word: String, meant: String?, reason: String)] = [
    ("celular", "cellular", "a letter missing"),
    ("cellullar", "cellular", "a letter too many"),
    ("wfii", "wifi", "two swapped"),
    ("WIFI", "wifi", "the case is another"),
    ("on-tap", "on tap", "a hyphen for a space"),
    ("tap", "on tap", "the only name with that word"),
    ("data", nil, "two names have that word"),
    ("xyz", nil, "nothing is near"),
    ("", nil, "there is nothing to compare"),
    ("no", nil, "as far from all as from nothing"),
    (String(repeating: "wifi", count: 1000), nil, "too long to be a slip"),
  ]

  @Test(arguments: rows)
  func `the nearest name is suggested`(_ word: String, _ meant: String?, _ reason: String) {
    let names = ["wifi", "ethernet", "cellular", "on tap", "data saver", "data budget"]
    #expect(Spelling.nearest(to: word, among: names) == meant, "\(reason)")
  }
}

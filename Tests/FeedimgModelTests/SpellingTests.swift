import FeedimgModel
import Testing

struct SpellingTests {
  static let rows: [(word: String, meant: String?, reason: String)] = [
    ("celular", "cellular", "a letter missing"),
    ("cellullar", "cellular", "one letter too many"),
    ("wfii", "wifi", "two swapped"),
    ("WIFI", "wifi", "the case differs"),
    ("on-tap", "on tap", "a hyphen in place of a space"),
    ("tap", "on tap", "the only name with that word"),
    ("data", nil, "two names have that word"),
    ("xyz", nil, "no name is close"),
    ("", nil, "there is nothing to compare"),
    ("no", nil, "as far from all names as from an empty one"),
    (String(repeating: "wifi", count: 1000), nil, "too long to be a typing mistake"),
  ]

  @Test(arguments: rows)
  func `the nearest name is suggested`(_ word: String, _ meant: String?, _ reason: String) {
    let names = ["wifi", "ethernet", "cellular", "on tap", "data saver", "data budget"]
    #expect(Spelling.nearest(to: word, among: names) == meant, "\(reason)")
  }
}

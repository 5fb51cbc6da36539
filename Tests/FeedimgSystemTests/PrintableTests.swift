import FeedimgSystem
import Testing

@Suite struct PrintableTests {
  @Test(arguments: [
    ("a\tb\nä", "a\tb\nä"), ("\u{1B}[31m", #"\u{1b}[31m"#), ("\u{7F}\u{9B}", #"\u{7f}\u{9b}"#),
    ("\u{202E}\u{2066}", #"\u{202e}\u{2066}"#), ("\r\n", "\\u{d}\n"),
  ])
  func `characters that control a terminal are printed as their code`(text: String, printed: String) {
    #expect(Printable.text(text) == printed)
  }

  @Test func `the sequences of the program stay`() {
    let text = "\u{1B}[1ma\u{1B}[0m\u{1B}[2J"
    #expect(Printable.text(text, keeping: ["\u{1B}[1m", "\u{1B}[0m"]) == "\u{1B}[1ma\u{1B}[0m\\u{1b}[2J")
  }
}

import Testing

@testable import FeedimgService

/// Documents of the Mastodon API with new addresses.
@Suite struct MastodonDocumentTests {
  @Test func `a document passes unchanged if its new addresses are too long together`() {
    let long = String(repeating: "a", count: 1 << 20)
    let document = MastodonDocument { _ in long }
    func entity(avatars: Int) -> [UInt8] {
      let members = Array(repeating: #""avatar":"https://x.example/a""#, count: avatars)
      return Array(#"{"acct":"a",\#(members.joined(separator: ","))}"#.utf8)
    }
    #expect(document.rewritten(entity(avatars: 15)) != nil)
    #expect(document.rewritten(entity(avatars: 17)) == nil)
  }
}

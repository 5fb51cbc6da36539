import Glibc
import TestSystem
import Testing

@testable import FeedimgService

/// The file of a token.
@Suite struct AccessTokenTests {
  private static let text = "0123456789abcdef0123456789abcdef"

  @Test(
    arguments: [
      (text, 0o600, true, "only the user can read it"), (text, 0o644, false, "others can read it"),
      ("short", 0o600, false, "its text is no token"),
    ] as [(String, mode_t, Bool, String)]
  )
  func `a private and valid token is kept, and any other is replaced`(
    _ text: String,
    _ mode: mode_t,
    _ isKept: Bool,
    _ reason: String
  ) throws {
    let folder = try TemporaryFolder()
    try folder.write(text, to: "token")
    chmod(folder["token"], mode)
    let token = try AccessToken.stored(in: folder["token"])
    #expect((token.text == text) == isKept, "\(reason)")
    #expect(folder.mode(of: "token") == 0o600, "\(reason)")
    #expect(try AccessToken.read(folder["token"]) == token, "\(reason)")
  }

  @Test func `a file that cannot be read is an error, and stays`() throws {
    let folder = try TemporaryFolder()
    // A link to itself, which not even the superuser can open.
    symlink("token", folder["token"])
    #expect(throws: ServiceError.self) { try AccessToken.stored(in: folder["token"]) }
    #expect(folder.names == ["token"])
  }

  @Test func `a link to the file stays one`() throws {
    let folder = try TemporaryFolder()
    symlink("target", folder["token"])
    let token = try AccessToken.stored(in: folder["token"])
    #expect(try folder.text(of: "target") == "\(token.text)\n")
    let new = try AccessToken.replaced(in: folder["token"])
    #expect(new != token)
    #expect(try folder.text(of: "target") == "\(new.text)\n")
  }
}

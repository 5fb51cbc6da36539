import FeedimgModel
import FeedimgSystem
import Glibc

/// The token for clients over TCP, kept in a file of the user.
struct AccessToken: Sendable, Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  /// Reads the token from a file, or writes a new one.
  ///
  /// Only the user can read the file. A file that others can read, or without a valid token, is replaced.
  ///
  /// - Throws: ``ServiceError`` where the file can be neither read nor written.
  init(file path: String) throws(ServiceError) {
    if let known = Self.read(path) { self = known } else { self = try Self.replaced(in: path) }
  }

  /// Writes a new token to a file, so that the old one is no longer valid.
  static func replaced(in path: String) throws(ServiceError) -> AccessToken {
    // The system generator is fit for secrets.
    let token = AccessToken(Base64.encodeForURL((0..<32).map { _ in UInt8.random(in: .min ... .max) }))
    // The new file has its own mode, and a link is not followed.
    unlink(path)
    do throws(FileFault) {
      try AtomicFile(path).locked { file throws(FileFault) in
        try file.replace(with: Array("\(token.text)\n".utf8))
      }
    } catch {
      let reason = FileFault.words(for: error.reason)
      throw ServiceError("`\(path)`: the token cannot be written: \(reason)")
    }
    return token
  }

  /// Compares in constant time, so that timing reveals nothing of the token.
  func isEqual(to given: some StringProtocol) -> Bool {
    let (wanted, given) = (Array(text.utf8), Array(given.utf8))
    guard wanted.count == given.count else { return false }
    return zip(wanted, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func read(_ path: String) -> AccessToken? {
    do throws(FileFault) {
      let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW)
      let status = try file.status()
      guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else { return nil }
      let text = String(decoding: try file.read(count: 128), as: UTF8.self).filter { !$0.isWhitespace }
      let isToken = text.utf8.count >= 32 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      return isToken ? AccessToken(text) : nil
    } catch {
      return nil
    }
  }
}

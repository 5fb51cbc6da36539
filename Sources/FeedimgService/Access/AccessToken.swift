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
  /// - Throws: ``ServiceError`` if the file exists but cannot be read, or cannot be written.
  static func stored(in path: String) throws(ServiceError) -> AccessToken {
    try convertingErrors { () throws(FileError) -> AccessToken in
      if let known = try read(path) { return known }
      return try AtomicFile(path).locked { file throws(FileError) -> AccessToken in
        // Another process may have written a token meanwhile.
        if let known = try read(path) { return known }
        return try create(in: file)
      }
    }
  }

  /// Writes a new token to a file, which revokes the old one.
  ///
  /// - Throws: ``ServiceError`` if the file cannot be written; the old token then stays valid.
  static func replaced(in path: String) throws(ServiceError) -> AccessToken {
    try convertingErrors { () throws(FileError) -> AccessToken in
      try AtomicFile(path).locked { file throws(FileError) -> AccessToken in try create(in: file) }
    }
  }

  /// Reads the token from a file.
  ///
  /// - Returns: Nil if there is no file, if others can read it, or if it has no valid token.
  /// - Throws: ``FileError`` if the file cannot be read.
  static func read(_ path: String) throws(FileError) -> AccessToken? {
    do throws(FileError) {
      let file = try OpenFile(path, to: "read", O_RDONLY)
      let status = try file.status()
      guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else { return nil }
      let text = String(decoding: try file.read(count: 128), as: UTF8.self).filter { !$0.isWhitespace }
      let isToken = text.utf8.count >= 32 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      return isToken ? AccessToken(text) : nil
    } catch {
      guard error.reason == ENOENT else { throw error }
      return nil
    }
  }

  /// Compares in constant time, so that timing reveals nothing of the token.
  func isEqual(to given: some StringProtocol) -> Bool {
    let (wanted, given) = (Array(text.utf8), Array(given.utf8))
    guard wanted.count == given.count else { return false }
    return zip(wanted, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func create(in file: borrowing LockedFile) throws(FileError) -> AccessToken {
    // The system generator is fit for secrets.
    let token = AccessToken(Base64.encodeForURL((0..<32).map { _ in UInt8.random(in: .min ... .max) }))
    try file.replace(with: Array("\(token.text)\n".utf8), isPrivate: true)
    return token
  }

  /// Runs the body and converts its error for users.
  private static func convertingErrors(
    _ body: () throws(FileError) -> AccessToken
  ) throws(ServiceError) -> AccessToken {
    do throws(FileError) {
      return try body()
    } catch {
      throw ServiceError("\(error)")
    }
  }
}

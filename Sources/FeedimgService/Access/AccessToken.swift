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
    if let known = Self.read(path) {
      self = known
      return
    }
    // The system generator is fit for secrets.
    text = (0..<4).map { _ in Self.digits(UInt64.random(in: .min ... .max)) }.joined()
    try Self.write(text, to: path)
  }

  /// Writes a new token to a file, so that the old one is no longer valid.
  ///
  /// - Throws: ``ServiceError`` where the file cannot be written.
  static func replaced(in path: String) throws(ServiceError) -> AccessToken {
    unlink(path)
    return try AccessToken(file: path)
  }

  /// The path of a file of this name beside the settings.
  static func file(_ name: String, beside settings: String) -> String {
    settings.prefix(upTo: settings.lastIndex(of: "/") ?? settings.startIndex) + "/\(name)"
  }

  /// Compares in constant time, so that timing reveals nothing of the token.
  func isEqual(to given: some StringProtocol) -> Bool {
    let (wanted, given) = (Array(text.utf8), Array(given.utf8))
    guard wanted.count == given.count else { return false }
    return zip(wanted, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func digits(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }

  private static func read(_ path: String) -> AccessToken? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).filter { !$0.isWhitespace }
    let isToken = text.utf8.count >= 32 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    return isToken ? AccessToken(text) : nil
  }

  /// Makes the folders of a file; a failure shows when the file is written.
  private static func makeFolder(of path: String) {
    for index in path.indices.dropFirst() where path[index] == "/" { mkdir(String(path[..<index]), 0o700) }
  }

  private static func write(_ text: String, to path: String) throws(ServiceError) {
    makeFolder(of: path)
    let fresh = "\(path).\(getpid())"
    unlink(fresh)
    let descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ServiceError("`\(path)`: the token cannot be written: \(SystemErrorText.of())")
    }
    let bytes = Array((text + "\n").utf8)
    let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    close(descriptor)
    guard isWritten, rename(fresh, path) == 0 else {
      let reason = SystemErrorText.of()
      unlink(fresh)
      throw ServiceError("`\(path)`: the token cannot be written: \(reason)")
    }
  }
}

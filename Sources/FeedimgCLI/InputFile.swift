import Glibc

/// A file named on the command line; `-` is standard input.
struct InputFile {
  let path: String

  /// The most bytes of a piece.
  private static let pieceLength = 1 << 18

  /// The name for messages.
  var name: String { path == "-" ? "standard input" : path }

  /// Reads the file in pieces; a piece ends when more bytes would have to be waited for.
  ///
  /// - Parameter take: Receives each piece, and whether it is the last, which may be empty.
  /// - Throws: ``CommandFailure`` with status 2 and the system's reason, or the error of `take`.
  func forEachPiece(
    _ take: (ArraySlice<UInt8>, Bool) throws(CommandFailure) -> Void
  ) throws(CommandFailure) {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { if path != "-" { close(descriptor) } }
    var room = [UInt8](repeating: 0, count: Self.pieceLength)
    var isLast = false
    while !isLast {
      var (count, error): (Int, Int32) = (0, 0)
      room.withUnsafeMutableBytes { buffer in
        while count < buffer.count, !isLast, error == 0, count == 0 || Self.isReady(descriptor) {
          let read = Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
          if read > 0 {
            count += read
          } else if read == 0 {
            isLast = true
          } else if errno == EAGAIN {
            _ = Self.isReady(descriptor, timeout: -1)
          } else if errno != EINTR {
            error = errno
          }
        }
      }
      guard error == 0 else { throw failure(error) }
      try take(room[..<count], isLast)
    }
  }

  /// Whether reading would not block: bytes are available, or the file has ended.
  private static func isReady(_ descriptor: Int32, timeout: Int32 = 0) -> Bool {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, timeout) > 0
  }

  private func failure(_ code: Int32) -> CommandFailure {
    CommandFailure(.usage, "\(name): cannot read: \(SystemError.text(code))")
  }
}

import FeedimgModel
import Glibc

/// Keeps a body in a file as a cache does: written under a temporary name, renamed when whole.
final class FileReceiver: BodyReceiving {
  private let path: String
  private let descriptor: Int32

  init(path: String) throws(LoadError) {
    self.path = path
    descriptor = open(path + ".part", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw LoadError(.unavailable, message: "`\(path)` cannot be written") }
  }

  deinit { close(descriptor) }

  func begin(_ head: ResponseHead) throws(LoadError) { try head.expectSuccess() }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    guard write(descriptor, bytes.baseAddress, bytes.count) == bytes.count else {
      throw LoadError(.unavailable, message: "`\(path)` cannot be written")
    }
  }

  func commit() throws(LoadError) {
    guard rename(path + ".part", path) == 0 else {
      throw LoadError(.unavailable, message: "`\(path)` cannot be written")
    }
  }
}

/// Throws a body away.
struct DiscardingReceiver: BodyReceiving {
  func begin(_ head: ResponseHead) throws(LoadError) { try head.expectSuccess() }
  func receive(_ bytes: UnsafeRawBufferPointer) {}
}

extension ResponseHead {
  func expectSuccess() throws(LoadError) {
    guard status == 200 else {
      throw LoadError(.status, url: url, message: "the server answered \(status)", status: status)
    }
  }
}

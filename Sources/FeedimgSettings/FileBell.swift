import Glibc

/// A descriptor that can be read once it has been rung, for who waits for several things.
final class FileBell: Sendable {
  /// For poll(2).
  let descriptor: Int32
  private let far: Int32

  /// - Returns: Nil where the process has no descriptors left.
  init?() {
    var ends: [Int32] = [-1, -1]
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else { return nil }
    (descriptor, far) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(far)
  }

  func ring() {
    var byte: UInt8 = 1
    // A full buffer rings as well.
    _ = write(far, &byte, 1)
  }

  func silence() {
    var block = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &block, block.count) > 0 {}
  }
}

import Glibc

/// An open file that closes itself.
struct OpenFile: ~Copyable {
  let path: String
  let descriptor: Int32

  /// Opens a file; the purpose says what for, and reads on after "cannot".
  init(_ path: String, to purpose: String, _ flags: Int32, mode: mode_t = 0) throws(FileFault) {
    var result: Int32
    repeat { result = open(path, flags | O_CLOEXEC, mode) } while result < 0 && errno == EINTR
    guard result >= 0 else { throw FileFault(purpose, path) }
    self.path = path
    descriptor = result
  }

  deinit { close(descriptor) }

  func status() throws(FileFault) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileFault("look at", path) }
    return status
  }

  /// Reads to the end, or until the limit is exceeded.
  func read(upTo limit: Int) throws(FileFault) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= limit {
      let count = Glibc.read(descriptor, &block, block.count)
      if count == 0 { break }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileFault("read", path) }
      bytes.append(contentsOf: block[..<count])
    }
    return bytes
  }

  func write(_ bytes: [UInt8]) throws(FileFault) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileFault("write", path) }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits until what was written is on the disk.
  func synchronize() throws(FileFault) {
    // A file system without the call (EINVAL) has nothing to wait for.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw FileFault("flush", path) }
  }
}

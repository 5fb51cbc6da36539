import Glibc

/// Writes what comes in pieces of any length by whole pages.
///
/// The pieces of HTTP/2 end anywhere, and some have a few bytes; each of them would touch a page that the next one
/// touches again. What is less than a page waits for the next piece. Lives on the transfer thread.
struct PageWriter: ~Copyable {
  let descriptor: Int32
  private let page = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: pageSize)
  /// How much of ``page`` is filled.
  private var waiting = 0

  private static let pageSize = 4096

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    close(descriptor)
    page.deallocate()
  }

  /// Writes what fills pages, or all.
  ///
  /// - Parameters:
  ///   - bytes: What follows.
  ///   - isLast: Whether nothing comes after it, so that nothing is to wait.
  /// - Returns: False where the file took less.
  mutating func write(_ bytes: UnsafeRawBufferPointer, isLast: Bool) -> Bool {
    let all = waiting + bytes.count
    let rest = isLast ? 0 : all % Self.pageSize
    guard rest < all else {
      keep(bytes)
      return true
    }
    // The page that waits is filled up, so that what follows begins where a page does.
    let filling = waiting == 0 ? 0 : min(Self.pageSize - waiting, bytes.count)
    keep(UnsafeRawBufferPointer(rebasing: bytes.prefix(filling)))
    let direct = UnsafeRawBufferPointer(rebasing: bytes[filling..<(bytes.count - rest)])
    guard send(waiting, direct) else { return false }
    waiting = 0
    keep(UnsafeRawBufferPointer(rebasing: bytes.suffix(rest)))
    return true
  }

  private mutating func keep(_ bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: page[waiting...]).copyMemory(from: bytes)
    waiting += bytes.count
  }

  private func send(_ kept: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard kept > 0 else { return Glibc.write(descriptor, bytes.baseAddress, bytes.count) == bytes.count }
    return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
      parts.initializeElement(at: 0, to: iovec(iov_base: page.baseAddress, iov_len: kept))
      let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
      parts.initializeElement(at: 1, to: iovec(iov_base: start, iov_len: bytes.count))
      return writev(descriptor, parts.baseAddress, 2) == kept + bytes.count
    }
  }
}

import Glibc

/// Writes what comes in pieces of any length by whole pages.
///
/// The pieces of HTTP/2 end anywhere, and some have a few bytes; each of them would touch a page that the next one
/// touches again. What is less than a page waits for the next piece. Lives on the transfer thread.
struct PageWriter: ~Copyable {
  let descriptor: Int32
  /// What waits; there from when something has to.
  private var page: UnsafeMutableRawPointer?
  /// How much of ``page`` is filled.
  private var waiting = 0

  private static let pageSize = 4096

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    close(descriptor)
    page?.deallocate()
  }

  /// Writes what fills pages, or all.
  ///
  /// - Parameters:
  ///   - bytes: What follows.
  ///   - isLast: Whether nothing comes after it, so that nothing is to wait.
  /// - Returns: False where the file took less.
  mutating func write(_ bytes: UnsafeRawBufferPointer, isLast: Bool) -> Bool {
    guard var start = bytes.baseAddress else { return !isLast || send(nil, 0) }
    var count = bytes.count
    if waiting > 0 {
      // The page that waits is filled up, so that what follows begins where a page does.
      let filling = min(Self.pageSize - waiting, count)
      keep(start, filling)
      (start, count) = (start + filling, count - filling)
      guard waiting == Self.pageSize || isLast else { return true }
    }
    let rest = isLast ? 0 : count % Self.pageSize
    guard send(start, count - rest) else { return false }
    if rest > 0 { keep(start + (count - rest), rest) }
    return true
  }

  private mutating func keep(_ bytes: UnsafeRawPointer, _ count: Int) {
    let page = self.page ?? .allocate(byteCount: Self.pageSize, alignment: Self.pageSize)
    self.page = page
    memcpy(page + waiting, bytes, count)
    waiting += count
  }

  /// Writes what waits, and then the bytes.
  private mutating func send(_ bytes: UnsafeRawPointer?, _ count: Int) -> Bool {
    guard waiting > 0 else { return count == 0 || Glibc.write(descriptor, bytes, count) == count }
    let all = waiting + count
    defer { waiting = 0 }
    return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
      parts.initializeElement(at: 0, to: iovec(iov_base: page, iov_len: waiting))
      let start = UnsafeMutableRawPointer(mutating: bytes)
      parts.initializeElement(at: 1, to: iovec(iov_base: start, iov_len: count))
      return writev(descriptor, parts.baseAddress, 2) == all
    }
  }
}

import Glibc

/// Writes pieces of any length as whole pages.
///
/// Pieces of HTTP/2 end anywhere, and some have only a few bytes. Each would touch a page that the next piece
/// touches again. A partial page waits for the next piece. Used on the transfer thread only.
struct PageWriter: ~Copyable {
  let descriptor: Int32
  /// The partial page. Allocated when first needed.
  private var page: UnsafeMutableRawPointer?
  /// The used length of ``page``.
  private var waiting = 0

  private static let pageSize = 4096

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    close(descriptor)
    page?.deallocate()
  }

  /// Writes full pages, or everything.
  ///
  /// - Parameters:
  ///   - bytes: The next bytes.
  ///   - isLast: Whether these are the last bytes, so that none may wait.
  /// - Returns: False if the file took fewer bytes.
  mutating func write(_ bytes: UnsafeRawBufferPointer, isLast: Bool) -> Bool {
    guard var start = bytes.baseAddress else { return !isLast || send(nil, 0) }
    var count = bytes.count
    if waiting > 0 {
      // Fills the partial page first, so that the rest begins at a page boundary.
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

  /// Writes the partial page, and then the bytes.
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

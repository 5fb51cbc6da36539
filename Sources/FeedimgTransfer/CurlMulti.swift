import CCurl

/// One of libcurl's multi handles: transfers that share connections, TLS sessions and resolved names.
final class CurlMulti: @unchecked Sendable {
  // Unchecked: curl's thread alone uses it. Other threads call `wake` alone, under the lock of the thread's queue, which
  // refers to this object only while curl's thread polls.

  private let library: CurlLibrary
  private let pointer: UnsafeMutableRawPointer
  /// How many transfers run in it.
  private(set) var count = 0

  /// Connections kept open between transfers, over all hosts.
  private static let greatestIdle = 32

  /// - Returns: Nil for want of memory or descriptors.
  init?(_ library: CurlLibrary) {
    guard let pointer = library.functions.multi_init() else { return nil }
    self.library = library
    self.pointer = pointer
    _ = ccurl_multi_set_long(library.table, pointer, CURLMOPT_MAXCONNECTS, Self.greatestIdle)
    // Without a descriptor to be woken by, libcurl makes the handle all the same.
    guard library.functions.multi_wakeup(pointer) == CURLM_OK else { return nil }
  }

  deinit { _ = library.functions.multi_cleanup(pointer) }

  /// - Returns: False where libcurl refuses, for want of memory.
  func add(_ handle: CurlHandle) -> Bool {
    guard library.functions.multi_add_handle(pointer, handle.pointer) == CURLM_OK else { return false }
    count += 1
    return true
  }

  /// Stops the transfer of an added handle, if it still runs.
  func remove(_ handle: CurlHandle) {
    _ = library.functions.multi_remove_handle(pointer, handle.pointer)
    count -= 1
  }

  /// Moves all transfers on as far as possible without waiting.
  func perform() {
    var running: Int32 = 0
    _ = library.functions.multi_perform(pointer, &running)
  }

  /// The next handle whose transfer has ended, and how.
  func nextEnded() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
    var left: Int32 = 0
    while let message = library.functions.multi_info_read(pointer, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      return (easy, message.pointee.data.result)
    }
    return nil
  }

  /// Waits until there is something to do, or ``wake()`` is called.
  func poll(milliseconds: Int32) { _ = library.functions.multi_poll(pointer, nil, 0, milliseconds, nil) }

  /// Ends the present wait, or else the next one; from any thread.
  func wake() { _ = library.functions.multi_wakeup(pointer) }
}

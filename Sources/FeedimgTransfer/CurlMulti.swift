import CCurl

/// A multi handle of libcurl: transfers that share connections, TLS sessions and resolved names.
final class CurlMulti: @unchecked Sendable {
  // Unchecked: only curl's thread uses it, except for `wake`. Other threads call `wake` under the lock of the
  // thread's queue, which refers to this object only while curl's thread polls.

  private let library: CurlLibrary
  private let pointer: UnsafeMutableRawPointer
  /// The number of its running transfers.
  private(set) var count = 0

  /// The most idle connections to keep open, over all hosts.
  private static let maximumIdle = 32

  /// - Returns: Nil if memory or descriptors run out.
  init?(_ library: CurlLibrary) {
    guard let pointer = library.functions.multi_init() else { return nil }
    self.library = library
    self.pointer = pointer
    _ = ccurl_multi_set_long(library.table, pointer, CURLMOPT_MAXCONNECTS, Self.maximumIdle)
    // If descriptors run out, libcurl still creates a handle, but that handle cannot be woken.
    guard library.functions.multi_wakeup(pointer) == CURLM_OK else { return nil }
  }

  deinit { _ = library.functions.multi_cleanup(pointer) }

  /// - Returns: False if memory runs out.
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

  /// Lets all transfers proceed as far as they can without waiting.
  func perform() {
    var running: Int32 = 0
    _ = library.functions.multi_perform(pointer, &running)
  }

  /// The next handle whose transfer has ended, with the result.
  func nextEnded() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
    var left: Int32 = 0
    while let message = library.functions.multi_info_read(pointer, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      return (easy, message.pointee.data.result)
    }
    return nil
  }

  /// Waits for network activity, for ``wake()``, or until the time is over.
  func poll(milliseconds: Int32) { _ = library.functions.multi_poll(pointer, nil, 0, milliseconds, nil) }

  /// Ends the current wait or, if none is under way, the next one; any thread may call it.
  func wake() { _ = library.functions.multi_wakeup(pointer) }
}

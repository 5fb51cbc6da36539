import CCurl

/// libcurl's set of running transfers with their shared connections, TLS sessions and names.
final class CurlMulti: @unchecked Sendable {
  // Unchecked: one thread uses the set, `wake` alone is called from others, which libcurl allows; and the set lives
  // as long as anything refers to this object.
  private let library: CurlLibrary
  private let pointer: UnsafeMutableRawPointer

  /// Connections kept open between transfers, over all hosts.
  private static let greatestIdle = 32

  init?(_ library: CurlLibrary) {
    guard let pointer = library.functions.multi_init() else { return nil }
    self.library = library
    self.pointer = pointer
    _ = ccurl_multi_set_long(library.table, pointer, CURLMOPT_MAXCONNECTS, Self.greatestIdle)
  }

  deinit { _ = library.functions.multi_cleanup(pointer) }

  /// - Returns: False where libcurl refuses, for want of memory.
  func add(_ handle: CurlHandle) -> Bool {
    library.functions.multi_add_handle(pointer, handle.pointer) == CURLM_OK
  }

  /// Stops the transfer of a handle, if it still runs.
  func remove(_ handle: CurlHandle) { _ = library.functions.multi_remove_handle(pointer, handle.pointer) }

  /// Moves every transfer on as far as it goes without waiting.
  func perform() {
    var running: Int32 = 0
    _ = library.functions.multi_perform(pointer, &running)
  }

  /// The next transfer that has ended since the last call, and how.
  func nextEnded() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
    var left: Int32 = 0
    while let message = library.functions.multi_info_read(pointer, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      return (easy, message.pointee.data.result)
    }
    return nil
  }

  /// Waits until a socket is ready, libcurl has something to do, or ``wake()`` is called.
  ///
  /// - Parameter milliseconds: The longest wait.
  func wait(milliseconds: Int32) { _ = library.functions.multi_poll(pointer, nil, 0, milliseconds, nil) }

  /// Ends a wait that goes on, or else the next one; from any thread.
  func wake() { _ = library.functions.multi_wakeup(pointer) }
}

import CCurl

/// libcurl's set of running transfers with their shared connections, TLS sessions and names.
///
/// Only what has something to do is moved on: `curl_multi_perform` would look at every transfer each time.
final class CurlMulti: @unchecked Sendable {
  // Unchecked: one thread uses the set, `wake` alone is called from others, and rings a bell that is there as long as
  // anything refers to this object.
  private let library: CurlLibrary
  private let pointer: UnsafeMutableRawPointer
  private let sockets: WatchedSockets
  /// Whether libcurl wants to be called, as its time has come.
  private var isDue = false
  /// Whether a transfer was added since it was last called.
  private var isNew = false

  /// Connections kept open between transfers, over all hosts.
  private static let greatestIdle = 32

  /// - Returns: Nil for want of memory or descriptors.
  init?(_ library: CurlLibrary) {
    guard let sockets = WatchedSockets(), let pointer = library.functions.multi_init() else { return nil }
    self.library = library
    self.pointer = pointer
    self.sockets = sockets
    let context = Unmanaged.passUnretained(sockets).toOpaque()
    _ = ccurl_multi_set_socket_function(library.table, pointer, WatchedSockets.callback, context)
    _ = ccurl_multi_set_long(library.table, pointer, CURLMOPT_MAXCONNECTS, Self.greatestIdle)
  }

  deinit { _ = library.functions.multi_cleanup(pointer) }

  /// - Returns: False where libcurl refuses, for want of memory.
  func add(_ handle: CurlHandle) -> Bool {
    isNew = true
    return library.functions.multi_add_handle(pointer, handle.pointer) == CURLM_OK
  }

  /// Stops the transfer of a handle, if it still runs.
  func remove(_ handle: CurlHandle) { _ = library.functions.multi_remove_handle(pointer, handle.pointer) }

  /// Moves the transfers on, as far as the last wait has found something to do or their time has come.
  func perform() {
    var running: Int32 = 0
    sockets.forEachReady { socket, events in
      _ = library.functions.multi_socket_action(pointer, socket, events, &running)
    }
    guard isDue || isNew else { return }
    (isDue, isNew) = (false, false)
    _ = library.functions.multi_socket_action(pointer, CURL_SOCKET_BAD, 0, &running)
  }

  /// Has the next ``perform()`` find again what the last one found, without a wait.
  ///
  /// - Returns: Whether there is anything to find.
  func expectMore() -> Bool { sockets.expectAgain() }

  /// In how many milliseconds libcurl wants to be called whatever happens; nil for never.
  private var timeout: Int? {
    var milliseconds = -1
    _ = library.functions.multi_timeout(pointer, &milliseconds)
    return milliseconds < 0 ? nil : milliseconds
  }

  /// The next transfer that has ended since the last call, and how.
  func nextEnded() -> (handle: CurlHandle, code: CURLcode)? {
    var left: Int32 = 0
    while let message = library.functions.multi_info_read(pointer, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
        let handle = CurlHandle.of(easy, library)
      else { continue }
      return (handle, message.pointee.data.result)
    }
    return nil
  }

  /// Waits until a socket is ready, libcurl has something to do, or ``wake()`` is called.
  ///
  /// - Parameter milliseconds: The longest wait; zero only looks.
  func wait(milliseconds: Int32) {
    let timeout = timeout.map { Int32(clamping: $0) } ?? .max
    let isQuiet = !sockets.wait(milliseconds: min(milliseconds, timeout))
    // What became due while sockets were served is found by the next wait.
    isDue = timeout == 0 || isQuiet && timeout < .max
  }

  /// Ends a wait that goes on, or else the next one; from any thread.
  func wake() { sockets.ring() }
}

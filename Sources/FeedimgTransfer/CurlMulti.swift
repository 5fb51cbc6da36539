import CCurl

/// libcurl's running transfers, in pools that share connections, TLS sessions and names; all that begins goes to the
/// latest one.
///
/// Only what has something to do is moved on: `curl_multi_perform` would look at every transfer each time.
final class CurlMulti: @unchecked Sendable {
  // Unchecked: one thread uses the pools, `wake` alone is called from others, and rings a bell that is there as long as
  // anything refers to this object.

  /// One of libcurl's multi handles.
  private struct Pool {
    let pointer: UnsafeMutableRawPointer
    /// How many transfers run in it.
    var count = 0
  }

  private let library: CurlLibrary
  private let sockets: WatchedSockets
  private var latest: Pool
  /// Those before it, as long as transfers run in them: libcurl has no other way to keep connections for these alone.
  private var older: [Pool] = []
  /// Whether libcurl wants to be called, as its time has come.
  private var isDue = false
  /// Whether a transfer was added since it was last called.
  private var isNew = false

  /// Connections kept open between transfers, over all hosts.
  private static let greatestIdle = 32

  /// - Returns: Nil for want of memory or descriptors.
  init?(_ library: CurlLibrary) {
    guard let sockets = WatchedSockets(), let pool = Self.pool(library, sockets) else { return nil }
    (self.library, self.sockets, latest) = (library, sockets, pool)
  }

  deinit {
    close(latest)
    for pool in older { close(pool) }
  }

  private static func pool(_ library: CurlLibrary, _ sockets: WatchedSockets) -> Pool? {
    guard let pointer = library.functions.multi_init() else { return nil }
    let context = Unmanaged.passUnretained(sockets).toOpaque()
    _ = ccurl_multi_set_socket_function(library.table, pointer, WatchedSockets.callback, context)
    _ = ccurl_multi_set_long(library.table, pointer, CURLMOPT_MAXCONNECTS, greatestIdle)
    return Pool(pointer: pointer)
  }

  private func close(_ pool: Pool) { _ = library.functions.multi_cleanup(pool.pointer) }

  /// Sees to it that what is added later uses no connection and no resolved name of now; what runs goes on.
  ///
  /// For want of memory, all stays as it is.
  func renew() {
    guard let pool = Self.pool(library, sockets) else { return }
    if latest.count == 0 { close(latest) } else { older.append(latest) }
    latest = pool
  }

  /// Whether what is added shares connections with a transfer of this pool.
  func isLatest(_ pool: UnsafeMutableRawPointer?) -> Bool { pool == latest.pointer }

  /// - Returns: False where libcurl refuses, for want of memory.
  func add(_ handle: CurlHandle) -> Bool {
    isNew = true
    guard library.functions.multi_add_handle(latest.pointer, handle.pointer) == CURLM_OK else { return false }
    latest.count += 1
    handle.pool = latest.pointer
    return true
  }

  /// Stops the transfer of a handle, if it still runs.
  func remove(_ handle: CurlHandle) {
    guard let pointer = handle.pool else { return }
    handle.pool = nil
    _ = library.functions.multi_remove_handle(pointer, handle.pointer)
    guard !isLatest(pointer) else {
      latest.count -= 1
      return
    }
    guard let index = older.firstIndex(where: { $0.pointer == pointer }) else { return }
    older[index].count -= 1
    if older[index].count == 0 { close(older.remove(at: index)) }
  }

  /// Moves the transfers on, as far as the last wait has found something to do or their time has come.
  func perform() {
    sockets.forEachReady { socket, events in act(socket, events) }
    guard isDue || isNew else { return }
    (isDue, isNew) = (false, false)
    act(CURL_SOCKET_BAD, 0)
  }

  /// A pool takes no notice of sockets that are none of its own.
  private func act(_ socket: Int32, _ events: Int32) {
    var running: Int32 = 0
    for pool in older { _ = library.functions.multi_socket_action(pool.pointer, socket, events, &running) }
    _ = library.functions.multi_socket_action(latest.pointer, socket, events, &running)
  }

  /// Has the next ``perform()`` find again what the last one found, without a wait.
  ///
  /// - Returns: Whether there is anything to find.
  func expectMore() -> Bool { sockets.expectAgain() }

  /// In how many milliseconds libcurl wants to be called whatever happens; nil for never.
  private var timeout: Int? {
    older.reduce(timeout(of: latest)) { earliest, pool in
      guard let timeout = timeout(of: pool) else { return earliest }
      return min(timeout, earliest ?? .max)
    }
  }

  private func timeout(of pool: Pool) -> Int? {
    var milliseconds = -1
    _ = library.functions.multi_timeout(pool.pointer, &milliseconds)
    return milliseconds < 0 ? nil : milliseconds
  }

  /// The next transfer that has ended since the last call, and how.
  func nextEnded() -> (handle: CurlHandle, code: CURLcode)? {
    if let ended = nextEnded(in: latest) { return ended }
    for pool in older {
      if let ended = nextEnded(in: pool) { return ended }
    }
    return nil
  }

  private func nextEnded(in pool: Pool) -> (handle: CurlHandle, code: CURLcode)? {
    var left: Int32 = 0
    while let message = library.functions.multi_info_read(pool.pointer, &left) {
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
  /// - Returns: Whether a socket is ready, or it was woken.
  func wait(milliseconds: Int32) -> Bool {
    let timeout = timeout.map { Int32(clamping: $0) } ?? .max
    let isQuiet = !sockets.wait(milliseconds: min(milliseconds, timeout))
    // What became due while sockets were served is found by the next wait.
    isDue = timeout == 0 || isQuiet && timeout < .max
    return !isQuiet
  }

  /// Ends a wait that goes on, or else the next one; from any thread.
  func wake() { sockets.ring() }
}

import CCurl
import Glibc

/// A multi handle of libcurl: transfers that share connections, TLS sessions and resolved names.
///
/// libcurl reports the sockets and the time that it waits for, so that one event concerns one transfer.
/// `curl_multi_perform` would look at all of them. Only the executor's thread uses it.
final class CurlMulti {
  private let library: CurlLibrary
  private let pointer: UnsafeMutableRawPointer
  private let time: LoopTime
  /// The number of its running transfers.
  private(set) var count = 0
  /// The sockets that libcurl waits for.
  private(set) var sockets: [pollfd] = []
  /// When libcurl must act even if no socket is ready; nil for never.
  private(set) var deadline: SuspendingClock.Instant?

  /// The most idle connections to keep open, over all hosts.
  private static let maximumIdle = 32

  /// - Returns: Nil if memory runs out.
  init?(_ library: CurlLibrary, time: LoopTime) {
    guard let pointer = library.functions.multi_init() else { return nil }
    self.library = library
    self.pointer = pointer
    self.time = time
    _ = ccurl_multi_set_long(library.table, pointer, CURLMOPT_MAXCONNECTS, Self.maximumIdle)
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = ccurl_multi_set_callbacks(library.table, pointer, Self.socketCallback, Self.timerCallback, context)
  }

  deinit {
    _ = ccurl_multi_set_callbacks(library.table, pointer, nil, nil, nil)
    _ = library.functions.multi_cleanup(pointer)
  }

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

  /// Lets the transfers proceed whose sockets are ready or whose time has come.
  ///
  /// - Parameter ready: What poll(2) found; libcurl ignores sockets of other multi handles.
  func perform(_ ready: [pollfd]) {
    for entry in ready {
      let (wanted, found) = (Int32(entry.events), Int32(entry.revents))
      // libcurl reads or writes to learn which error a socket has.
      let isBroken = found & ~(POLLIN | POLLOUT) != 0
      let isReadable = wanted & POLLIN != 0 && (isBroken || found & POLLIN != 0)
      let isWritable = wanted & POLLOUT != 0 && (isBroken || found & POLLOUT != 0)
      act(entry.fd, (isReadable ? CURL_CSELECT_IN : 0) | (isWritable ? CURL_CSELECT_OUT : 0))
    }
    guard let deadline, deadline <= time.now else { return }
    // libcurl sets the time only when it changes.
    self.deadline = nil
    act(CURL_SOCKET_TIMEOUT, 0)
  }

  private func act(_ socket: Int32, _ events: Int32) {
    var running: Int32 = 0
    _ = library.functions.multi_socket_action(pointer, socket, events, &running)
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

  private static let socketCallback: curl_socket_callback = { _, socket, interest, context, _ in
    guard let context else { return 0 }
    let multi = Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue()
    multi.sockets.removeAll { $0.fd == socket }
    let isRead = interest == CURL_POLL_IN || interest == CURL_POLL_INOUT
    let isWrite = interest == CURL_POLL_OUT || interest == CURL_POLL_INOUT
    guard isRead || isWrite else { return 0 }
    let events = Int16((isRead ? POLLIN : 0) | (isWrite ? POLLOUT : 0))
    multi.sockets.append(pollfd(fd: socket, events: events, revents: 0))
    return 0
  }

  private static let timerCallback: curl_multi_timer_callback = { _, milliseconds, context in
    guard let context else { return 0 }
    let multi = Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue()
    multi.deadline = milliseconds < 0 ? nil : multi.time.now.advanced(by: .milliseconds(milliseconds))
    return 0
  }
}

import CCurl
import Glibc
import Testing

@testable import FeedimgTransfer

/// The sockets that the transfer thread waits for.
struct WatchedSocketsTests {
  private let sockets: WatchedSockets
  private let pair: [Int32]

  init() throws {
    sockets = try #require(WatchedSockets())
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    self.pair = pair
  }

  private func watch(_ socket: Int32, _ interest: Int32) {
    _ = WatchedSockets.callback(nil, socket, interest, Unmanaged.passUnretained(sockets).toOpaque(), nil)
  }

  private func found() -> [Int32: Int32] {
    _ = sockets.wait(milliseconds: 0)
    return taken()
  }

  private func taken() -> [Int32: Int32] {
    var taken: [Int32: Int32] = [:]
    sockets.forEachReady { taken[$0] = $1 }
    return taken
  }

  private func end() { for socket in pair { close(socket) } }

  @Test func `what has come is found as long as it is asked for`() {
    defer { end() }
    watch(pair[0], CURL_POLL_IN)
    #expect(found().isEmpty)
    write(pair[1], "a", 1)
    #expect(found() == [pair[0]: CURL_CSELECT_IN])
    #expect(found() == [pair[0]: CURL_CSELECT_IN])
    watch(pair[0], CURL_POLL_REMOVE)
    #expect(found().isEmpty)
    watch(pair[0], CURL_POLL_REMOVE)
    #expect(found().isEmpty)
  }

  @Test func `a later wish replaces the earlier one`() {
    defer { end() }
    watch(pair[0], CURL_POLL_OUT)
    watch(pair[1], CURL_POLL_INOUT)
    #expect(found() == [pair[0]: CURL_CSELECT_OUT, pair[1]: CURL_CSELECT_OUT])
    watch(pair[0], CURL_POLL_IN)
    #expect(found() == [pair[1]: CURL_CSELECT_OUT])
    watch(pair[1], CURL_POLL_REMOVE)
    write(pair[1], "a", 1)
    #expect(found() == [pair[0]: CURL_CSELECT_IN])
  }

  @Test func `what the other side has closed is left to be found by reading`() {
    watch(pair[0], CURL_POLL_IN)
    close(pair[1])
    #expect(found() == [pair[0]: CURL_CSELECT_IN])
    close(pair[0])
  }

  @Test func `what was closed without a word is found once`() throws {
    defer { end() }
    // A number so high that no other test is given it as soon as it is free.
    let socket = fcntl(pair[0], F_DUPFD_CLOEXEC, 1000)
    try #require(socket >= 1000)
    watch(socket, CURL_POLL_IN)
    close(socket)
    #expect(found() == [socket: CURL_CSELECT_ERR])
    #expect(found().isEmpty)
  }

  @Test func `a bell ends the wait that comes next, and no other`() {
    defer { end() }
    sockets.ring()
    sockets.ring()
    // For ever, were it not for the bell.
    #expect(sockets.wait(milliseconds: -1))
    #expect(!sockets.wait(milliseconds: 0))
    #expect(found().isEmpty)
  }

  @Test func `what is expected again is handed out without a look, as long as it is asked for`() {
    defer { end() }
    watch(pair[0], CURL_POLL_IN)
    watch(pair[1], CURL_POLL_OUT)
    write(pair[1], "a", 1)
    #expect(found() == [pair[0]: CURL_CSELECT_IN, pair[1]: CURL_CSELECT_OUT])
    var byte: UInt8 = 0
    read(pair[0], &byte, 1)
    #expect(sockets.expectAgain())
    #expect(taken() == [pair[0]: CURL_CSELECT_IN])
    #expect(taken().isEmpty)
    watch(pair[0], CURL_POLL_REMOVE)
    #expect(!sockets.expectAgain())
    #expect(taken().isEmpty)
  }

  @Test func `what was taken is not found twice`() {
    defer { end() }
    watch(pair[0], CURL_POLL_OUT)
    #expect(sockets.wait(milliseconds: 0))
    #expect(taken() == [pair[0]: CURL_CSELECT_OUT])
    #expect(taken().isEmpty)
  }
}

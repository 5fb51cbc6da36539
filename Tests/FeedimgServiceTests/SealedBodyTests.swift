import Glibc
import LoopbackServer
import Testing

@testable import FeedimgService

/// What nobody can change, and how sockets take it.
@Suite struct SealedBodyTests {
  private let bytes = PictureOrigin.picture(7, size: 300_001)

  /// What a body holds, read anew.
  private func content(_ body: SealedBody) -> [UInt8] {
    var content = [UInt8](repeating: 0, count: body.count + 10)
    let count = pread(body.descriptor, &content, content.count, 0)
    return Array(content.prefix(max(0, count)))
  }

  /// Ways to change a file, by its descriptor; each says whether it was refused.
  private static let changes: [(name: String, isRefused: @Sendable (Int32) -> Bool)] = [
    ("writing", { pwrite($0, "x", 1, 10) < 0 }), ("writing at the end", { pwrite($0, "x", 1, 300_001) < 0 }),
    ("shortening", { ftruncate($0, 1) < 0 }), ("lengthening", { ftruncate($0, 400_000) < 0 }),
    ("allocating", { posix_fallocate($0, 0, 400_000) != 0 }),
    (
      "making a hole",
      {
        let pages = mmap(nil, 4096, PROT_READ, MAP_SHARED, $0, 0)
        guard pages != MAP_FAILED else { return false }
        defer { munmap(pages, 4096) }
        return madvise(pages, 4096, MADV_REMOVE) < 0
      }
    ),
    ("mapping it", { mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, $0, 0) == MAP_FAILED }),
    // F_ADD_SEALS (linux/fcntl.h).
    ("sealing it otherwise", { fcntl($0, 1033, 0) < 0 }),
  ]

  @Test(arguments: changes.indices) func `nobody changes it by`(_ index: Int) throws {
    let (name, isRefused) = Self.changes[index]
    let body = try #require(SealedBody(bytes))
    #expect(isRefused(body.descriptor), "\(name)")
    // As any process of the same user may.
    let other = open("/proc/self/fd/\(body.descriptor)", O_RDWR | O_CLOEXEC)
    defer { close(other) }
    if other >= 0 { #expect(isRefused(other), "\(name), opened anew") }
    #expect(content(body) == bytes)
    #expect(body.cost >= bytes.count)
  }

  @Test func `an empty body is one`() throws {
    let body = try #require(SealedBody([]))
    #expect(content(body) == [])
  }

  /// A pair of Unix sockets, of which the first does not wait.
  private final class Pair: Sendable {
    let ends: (Int32, Int32)

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
      _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
      self.ends = (ends[0], ends[1])
    }

    /// Ends the side that reads.
    func hangUp() { shutdown(ends.1, Int32(SHUT_RDWR)) }

    func read(_ count: Int) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      let taken = recv(ends.1, &bytes, count, Int32(MSG_DONTWAIT))
      return Array(bytes.prefix(max(0, taken)))
    }

    deinit {
      close(ends.0)
      close(ends.1)
    }
  }

  @Test func `a socket takes what it can, and a reader gets every byte, though the body has gone`() throws {
    var body = SealedBody(bytes)
    let pair = try Pair()
    var (sent, read) = (5, [UInt8]())
    while let taken = body?.send(sent..<bytes.count, to: pair.ends.0), sent < bytes.count {
      sent += taken
      // What is on its way does not need it any more.
      if sent == bytes.count { body = nil }
      while case let piece = pair.read(10_000), !piece.isEmpty { read += piece }
    }
    #expect(sent == bytes.count)
    #expect(read == Array(bytes.dropFirst(5)))
  }

  @Test func `readers do not share a place in it`() throws {
    let body = try #require(SealedBody(bytes))
    let pairs = [try Pair(), try Pair()]
    for range in [0..<1000, 200_000..<201_000] {
      for pair in pairs { #expect(body.send(range, to: pair.ends.0) == 1000) }
    }
    for pair in pairs { #expect(pair.read(5000) == Array(bytes[0..<1000] + bytes[200_000..<201_000])) }
  }

  @Test func `who has hung up takes nothing`() throws {
    // As NIO has it.
    signal(SIGPIPE, SIG_IGN)
    let body = try #require(SealedBody(bytes))
    let pair = try Pair()
    pair.hangUp()
    #expect(body.send(0..<1000, to: pair.ends.0) == 0)
  }

  @Test func `what is no socket for it says so`() throws {
    let body = try #require(SealedBody(bytes))
    let other = try #require(SealedBody(bytes))
    #expect(body.send(0..<1000, to: other.descriptor) == nil)
  }
}

/// When a copy pays.
@Suite struct SealingDemandTests {
  private var demand = SealingDemand()

  /// Which of so many askings in a row are followed by a copy.
  private mutating func due(_ key: String, _ count: Int) -> [Int] {
    (1...count).filter { _ in demand.ask(key) }
  }

  @Test func `the second asking is one too many, and each loss doubles the wait`() {
    var test = self
    #expect(test.due("a", 30) == [2, 6, 14, 30])
    #expect(test.due("b", 2) == [2], "each body for itself")
  }

  @Test func `the wait has an end`() {
    var test = self
    let due = test.due("a", 2000)
    #expect(zip(due, due.dropFirst()).map { $1 - $0 }.max() == 256)
  }

  @Test func `what is asked for once is not remembered for ever`() {
    var test = self
    #expect(test.due("a", 1) == [])
    for key in 0..<10_000 { #expect(test.due("\(key)", 1) == []) }
    #expect(test.due("a", 2) == [2])
  }
}

import Glibc
import LoopbackServer
import NIOCore
import Testing

@testable import FeedimgService

/// Bodies in memory that no process can change.
@Suite struct SealedBodyTests {
  private let bytes = PictureOrigin.picture(7, size: 300_001)

  /// The content of a body, read from its file.
  private func content(_ body: SealedBody) throws -> [UInt8] {
    var content = [UInt8](repeating: 0, count: body.count + 10)
    let count = try body.file.withUnsafeFileDescriptor { pread($0, &content, content.count, 0) }
    return Array(content.prefix(max(0, count)))
  }

  /// Ways to change a file by its descriptor.
  ///
  /// Each returns whether it was refused.
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
    ("sealing it differently", { fcntl($0, 1033, 0) < 0 }),
  ]

  @Test(arguments: changes.indices) func `a sealed body cannot be changed by`(_ index: Int) throws {
    let (name, isRefused) = Self.changes[index]
    let body = try #require(SealedBody(bytes))
    let descriptor = try body.file.withUnsafeFileDescriptor { $0 }
    #expect(isRefused(descriptor), "\(name)")
    // Any process of the same user can open the file.
    let other = open("/proc/self/fd/\(descriptor)", O_RDWR | O_CLOEXEC)
    defer { close(other) }
    if other >= 0 { #expect(isRefused(other), "\(name), opened again") }
    #expect(try content(body) == bytes)
    #expect(body.cost >= bytes.count)
  }

  @Test func `an empty body can be sealed`() throws {
    let body = try #require(SealedBody([]))
    #expect(try content(body) == [])
  }

  @Test func `this system sends sealed bodies`() {
    #expect(SealedBody.canBeSent())
  }

  @Test func `a region is a part of the body`() throws {
    let body = try #require(SealedBody(bytes))
    let region = body.region(5..<1000)
    #expect((region.readerIndex, region.endIndex, region.readableBytes) == (5, 1000, 995))
  }
}

/// When a sealed copy pays.
@Suite struct SealingDemandTests {
  private var demand = SealingDemand()

  /// The numbers of the requests in a row that are followed by a copy.
  private mutating func due(_ key: String, _ count: Int) -> [Int] {
    (1...count).filter { _ in demand.noteRequest(key) }
  }

  @Test func `the second request causes a copy, and each loss doubles the wait`() {
    var test = self
    #expect(test.due("a", 30) == [2, 6, 14, 30])
    #expect(test.due("b", 2) == [2], "each body is counted alone")
  }

  @Test func `the wait has an upper limit`() {
    var test = self
    let due = test.due("a", 2000)
    #expect(zip(due, due.dropFirst()).map { $1 - $0 }.max() == 256)
  }

  @Test func `a single request is not remembered forever`() {
    var test = self
    #expect(test.due("a", 1) == [])
    for key in 0..<10_000 { #expect(test.due("\(key)", 1) == []) }
    #expect(test.due("a", 2) == [2])
  }
}

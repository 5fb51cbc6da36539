import FeedimgSystem
import Glibc
import Testing

/// Files in memory that no process can change.
@Suite struct SystemMemoryTests {
  /// Ways to change a file by its descriptor.
  ///
  /// Each returns whether it was refused.
  private static let changes: [(name: String, isRefused: @Sendable (Int32) -> Bool)] = [
    ("writing", { pwrite($0, "x", 1, 10) < 0 }), ("writing at the end", { pwrite($0, "x", 1, 5000) < 0 }),
    ("shortening", { ftruncate($0, 1) < 0 }), ("lengthening", { ftruncate($0, 9000) < 0 }),
    ("allocating", { posix_fallocate($0, 0, 9000) != 0 }),
    ("mapping it", { mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, $0, 0) == MAP_FAILED }),
    // F_ADD_SEALS (linux/fcntl.h).
    ("sealing it differently", { fcntl($0, 1033, 0) < 0 }),
  ]

  @Test(arguments: changes.indices) func `a sealed file cannot be changed`(_ index: Int) throws {
    let (name, isRefused) = Self.changes[index]
    let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
    let descriptor = try #require(SystemMemory.seal(bytes))
    defer { close(descriptor) }
    #expect(isRefused(descriptor), "\(name)")
    // Any process of the same user can open the file.
    let other = open("/proc/self/fd/\(descriptor)", O_RDWR | O_CLOEXEC)
    if other >= 0 { #expect(isRefused(other), "\(name), opened again") }
    if other >= 0 { close(other) }
    var content = [UInt8](repeating: 0, count: 6000)
    let count = pread(descriptor, &content, content.count, 0)
    #expect(Array(content.prefix(max(0, count))) == bytes)
  }
}

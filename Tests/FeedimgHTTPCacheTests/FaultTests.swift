import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import Glibc
import TestSystem
import Testing

/// Disk faults: full disks, missing folders and refused access.
@Suite struct FaultTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func `a cache whose folder is deleted while it runs creates it again`() throws {
    let cache = DiskCache(folder)
    try cache.store("a", picture(1))
    #expect(cache.bytes("a") == picture(1))
    TestFolder.removeAll(folder.cache)
    #expect(cache.contains(["a"]) == [false])
    #expect(cache.read("a") == nil)
    #expect(access(folder.cache, F_OK) != 0)
    try cache.store("b", picture(2))
    #expect(cache.bytes("b") == picture(2))
    #expect(try cache.info().entries == 1)
  }

  @Test func `a short image keeps its bytes when the folder is deleted while it is written`() throws {
    let cache = DiskCache(folder)
    let writer = try cache.makeWriter()
    let bytes = picture(1)
    try bytes.withUnsafeBytes { try writer.write($0) }
    TestFolder.removeAll(folder.cache)
    let head = ResponseHead(status: 200, fields: HTTPFields(), url: try ImageURL("https://a/"))
    _ = try writer.commit(ImageMetadata(key: "a", role: .original, mediaType: "image/png", head: head))
    #expect(cache.bytes("a") == bytes)
    #expect(folder.incoming.isEmpty)
  }

  @Test func `a folder that another process has created meanwhile is used`() throws {
    let (one, two) = (DiskCache(folder), DiskCache(folder))
    try one.store("a", picture(1))
    TestFolder.removeAll(folder.cache)
    try two.store("b", picture(2))
    #expect(one.contains(["a", "b"]) == [false, true])
    one.close()
    #expect(two.contains(["b"]) == [true])
    try two.store("c", picture(3))
    #expect(DiskCache(folder).contains(["a", "b", "c"]) == [false, true, true])
  }

  @Test func `deleted parts of the folder are created again`() throws {
    let cache = DiskCache(folder)
    for number in 0..<10 { try cache.store("\(number)", picture(number)) }
    for part in ["incoming", "bodies"] {
      TestFolder.removeAll("\(folder.cache)/\(part)")
      try cache.store("a", picture(1))
      #expect(cache.bytes("a") == picture(1))
    }
    #expect(cache.contains(["3"]) == [false])
    #expect(cache.read("3") == nil)
  }

  @Test func `a file in place of the folder is an error that names it`() throws {
    overwrite(folder.cache, [1])
    let cache = DiskCache(folder)
    #expect(cache.contains(["a"]) == [false])
    #expect(cache.read("a") == nil)
    let error = #expect(throws: CacheError.self) { try cache.makeWriter() }
    #expect(error?.message == "cannot make the folder `\(folder.cache)/incoming`: not a directory")
    #expect(content(of: folder.cache) == [1])
  }

  @Test(arguments: ["", "relative/cache", "/proc/cache", "/dev/null/cache", "/tmp/\u{0}x"])
  func `an impossible folder is an error and not a crash`(path: String) throws {
    let cache = DiskCache(folder: path, limits: .roomy, clock: { 0 })
    #expect(cache.contains(["a"]) == [false])
    #expect(cache.read("a") == nil)
    if path != "relative/cache" { #expect(throws: CacheError.self) { try cache.makeWriter() } }
  }

  @Test func `a disk that others have filled is an error, and stored images stay complete`() throws {
    let script = """
      mkdir -p "$1" && mount -t tmpfs -o size=2m tmpfs "$1"
      "$2" write-some "$1/cache" 1000000 > /dev/null
      dd if=/dev/zero of="$1/others" bs=4096 2> /dev/null || true
      "$2" probe "$1/cache"
      exec "$2" recover "$1/cache"
      """
    guard let child = try Child.isolated(script, [folder.path, Child.worker]) else {
      try Test.cancel("the kernel refuses a mount namespace")
    }
    let lines = child.lines()
    #expect(child.wait() == 0)
    try #require(lines.count == 5, "\(lines)")
    let words = lines[0].split(separator: " ")
    #expect(words[1] == words[3])
    #expect((Int(words[1]) ?? 0) > 20)
    // If an image finds no room, the least recently used ones are evicted. Then this one fits, or the next.
    if lines[1] != "stored" {
      #expect(lines[1].hasPrefix("error cannot ") && lines[1].hasSuffix(": no space left on device"))
    }
    for (one, next) in zip(lines.dropFirst(), lines.dropFirst(2)) {
      #expect(one == "stored" || next == "stored", "\(lines)")
    }
  }

  @Test func `with any small amount of free space the index gets what it needs`() throws {
    let script = """
      mkdir -p "$1"
      for pages in $(seq 0 24); do
        mount -t tmpfs -o size=2m tmpfs "$1"
        "$2" write-some "$1/cache" 1000000 > /dev/null
        dd if=/dev/zero of="$1/others" bs=4096 2> /dev/null || true
        truncate -s "-$((pages * 4096))" "$1/others"
        "$2" recover "$1/cache"
        umount "$1"
      done
      """
    guard let child = try Child.isolated(script, [folder.path, Child.worker]) else {
      try Test.cancel("the kernel refuses a mount namespace")
    }
    let lines = child.lines()
    #expect(child.wait() == 0)
    try #require(lines.count == 25 * 3, "\(lines)")
    // A body may find no room, which makes room for the next. Once it is stored, the index must have room.
    #expect(lines.allSatisfy { $0 == "stored" || $0.hasPrefix("error cannot write ") }, "\(lines)")
    for (one, next) in zip(lines, lines.dropFirst()) { #expect(one == "stored" || next == "stored") }
  }

  @Test func `images stored together are kept, with any small amount of free space for their rows`() throws {
    let script = """
      mkdir -p "$1"
      for pages in $(seq 0 12); do
        mount -t tmpfs -o size=4m tmpfs "$1"
        "$2" squeeze "$1/cache" 100000000 $((pages * 4096))
        umount "$1"
      done
      """
    guard let child = try Child.isolated(script, [folder.path, Child.worker]) else {
      try Test.cancel("the kernel refuses a mount namespace")
    }
    let lines = child.lines()
    #expect(child.wait() == 0)
    try #require(lines.count == 13, "\(lines)")
    for line in lines {
      let words = line.split(separator: " ")
      #expect(words[1] == "6", "\(line)")
      #expect(words[3] == words[5] && words[5] == words[7] && words[9] == "0", "\(line)")
    }
  }

  @Test func `the cache evicts before it fills the disk`() throws {
    let script = """
      mkdir -p "$1" && mount -t tmpfs -o size=4m tmpfs "$1" && exec "$2" fill "$1/cache" 100000000
      """
    guard let child = try Child.isolated(script, [folder.path, Child.worker]) else {
      try Test.cancel("the kernel refuses a mount namespace")
    }
    let lines = child.lines()
    #expect(child.wait() == 0)
    try #require(lines.count == 2, "\(lines)")
    let words = lines[0].split(separator: " ")
    #expect(words[1] == "500")
    #expect(words[3] == words[5])
    #expect((Int(words[3]) ?? 0) > 20)
    // A fiftieth of 4 MiB, less the growth of the index since then.
    #expect((Int(words[7]) ?? 0) > 40_000, "\(lines)")
    #expect(lines[1] == "stored after clearing")
  }

  @Test func `an image that a full disk refuses evicts others once`() throws {
    let child = try Child([Child.worker, "refuse", folder.cache])
    let lines = child.lines()
    #expect(child.wait() == 0)
    try #require(lines.count == 2, "\(lines)")
    #expect(lines[0].hasPrefix("error cannot write ") && lines[0].hasSuffix(": no space left on device"))
    let evicted = try #require(lines[1].split(separator: " ").last.flatMap { Int($0) })
    // 128 KiB, and less than one image more.
    #expect((131_072..<131_072 + 32_784).contains(evicted), "\(lines)")
  }

  @Test func `on a volume for few images, the newest is kept and the oldest is evicted`() throws {
    let script = """
      mkdir -p "$1" && mount -t tmpfs -o size=8m tmpfs "$1" && exec "$2" newest "$1/cache" 100000000
      """
    guard let child = try Child.isolated(script, [folder.path, Child.worker]) else {
      try Test.cancel("the kernel refuses a mount namespace")
    }
    let lines = child.lines()
    #expect(child.wait() == 0)
    #expect(lines == Array(repeating: "kept", count: 6))
  }

  @Test func `a read-only folder is read, and writing to it is an error that says so`() throws {
    #expect(try Child([Child.worker, "write-some", folder.cache]).lines() == ["done"])
    let script = """
      mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" probe "$1"
      """
    guard let child = try Child.isolated(script, [folder.cache, Child.worker]) else {
      try Test.cancel("the kernel refuses a mount namespace")
    }
    let lines = child.lines()
    #expect(child.wait() == 0)
    try #require(lines.count == 2, "\(lines)")
    #expect(lines[0] == "present 48 whole 48")
    #expect(lines[1].hasPrefix("error cannot write `\(folder.cache)/incoming/"))
    #expect(lines[1].hasSuffix(": read-only file system"))
  }

  @Test func `a read-only folder is read also after a writer was killed`() throws {
    let writer = try Child([Child.worker, "write", folder.cache, "100000000"])
    for _ in 0..<20 { #expect(writer.line() == "stored") }
    writer.kill()
    writer.wait()
    let before = try DiskCache(folder: folder.cache, limits: .roomy, clock: SystemClock.seconds).info()
      .entries
    let script = """
      mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" probe "$1"
      """
    guard let child = try Child.isolated(script, [folder.cache, Child.worker]) else {
      try Test.cancel("the kernel refuses a mount namespace")
    }
    let lines = child.lines()
    #expect(child.wait() == 0)
    #expect(lines.first == "present \(before) whole \(before)")
  }

  @Test func `without descriptors there are misses and errors, and later everything is there`() throws {
    let child = try Child([Child.worker, "starve", folder.cache])
    let lines = child.lines()
    #expect(child.wait() == 0)
    try #require(lines.count == 3, "\(lines)")
    #expect(lines[0] == "present false read false")
    #expect(lines[1].hasPrefix("error cannot write `\(folder.cache)/incoming/"))
    #expect(lines[1].hasSuffix(": too many open files"))
    #expect(lines[2] == "present true read true")
  }

  @Test func `a failed system call never returns a wrong image, and later everything works`() throws {
    // Each 16th call. `CacheWorker faults FOLDER 1` fails all of them.
    let child = try Child([Child.worker, "faults", folder.cache, "16"])
    let lines = child.lines()
    #expect(child.wait() == 0)
    #expect(lines.count == 1, "\(lines.joined(separator: "\n"))")
    let words = (lines.last ?? "").split(separator: " ")
    #expect(words.first == "faults")
    #expect((words.dropFirst().first.flatMap { Int($0) } ?? 0) > 100)
    for call in ["open", "write", "pwrite64", "rename"] {
      #expect(words.contains(Substring(call)), "no fault in \(call)")
    }
  }
}

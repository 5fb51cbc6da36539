import FeedimgModel
import Glibc
import Testing

@testable import FeedimgHTTPCache

@Suite struct ArchiveTests {
  let folder: TestFolder
  let other: TestFolder
  let clock = TestClock()

  init() throws {
    folder = try TestFolder()
    other = try TestFolder()
  }

  var archive: String { folder.path + "/images.tar" }

  /// A cache with pinned and other images, exported.
  func export(_ count: Int = 10) throws -> DiskCache {
    let cache = DiskCache(folder, clock: clock)
    for number in 0..<count {
      clock += 1
      try cache.store(
        "\(number)",
        picture(number, size: 100 * number),
        role: number.isMultiple(of: 2) ? .original : .thumbnail,
        mediaType: "image/webp",
        fields: HTTPFields([.init(name: "ETag", value: "\"\(number)\"")])
      )
    }
    if count > 3 { #expect(try cache.pin("3")) }
    #expect(try cache.export(to: archive).entries == count)
    return cache
  }

  /// An empty cache in another folder.
  func makeOther(originals: Int = 1 << 20, pinned: Int = 1 << 20) -> DiskCache {
    let limits = CacheLimits(
      originals: ByteCount(originals),
      thumbnails: .mebibytes(1),
      pinned: ByteCount(pinned),
      unusedDays: 7
    )
    return DiskCache(other, limits: limits, clock: clock)
  }

  @Test func `exported images are imported with all metadata, as if just used`() throws {
    let cache = try export()
    clock += 365 * 86_400
    let kiosk = makeOther()
    let imported = try kiosk.importEntries(from: archive)
    #expect(imported == .init(entries: 10, size: ByteCount(4500), present: 0, leftOut: 0))
    for number in 0..<10 {
      #expect(kiosk.bytes("\(number)") == picture(number, size: 100 * number))
      #expect(kiosk.response(for: "\(number)")?.head.fields["ETag"] == "\"\(number)\"")
    }
    let info = try kiosk.info()
    #expect(info.shares.map(\.entries) == [5, 4])
    #expect(info.pinned.entries == 1)
    #expect(info.oldestUse == clock.now)
    #expect(try kiosk.verify().whole == 10)
    let stored = Dictionary(uniqueKeysWithValues: try cache.list().map { ($0.key, $0.storedAt) })
    #expect(try kiosk.list().allSatisfy { stored[$0.key] == $0.storedAt && $0.mediaType == "image/webp" })
    #expect(try kiosk.importEntries(from: archive).present == 10)
  }

  @Test func `any tar program lists and unpacks an export`() throws {
    _ = try export(3)
    let listed = try Child(["tar", "tf", archive])
    let names = listed.lines()
    #expect(listed.wait() == 0)
    #expect(names.count == 7)
    #expect(names.first == "feedimg-cache/FORMAT")
    #expect(names.allSatisfy { $0.hasPrefix("feedimg-cache/") })
    let script =
      "cd \"$1\" && tar xf images.tar && cat feedimg-cache/*.webp | wc -c && python3 -c '\(Self.python)'"
    let child = try Child(["sh", "-c", script, "sh", folder.path])
    #expect(child.lines() == ["300", "7 members"])
  }

  private static let python = #"import tarfile; print(len(tarfile.open("images.tar").getnames()), "members")"#

  @Test func `an export that tar has repacked can be imported`() throws {
    _ = try export(1)
    let script = """
      cd "$1" && tar xf images.tar && rm images.tar &&
      tar cf images.tar ./feedimg-cache/FORMAT ./feedimg-cache/*.record ./feedimg-cache/*.webp
      """
    let child = try Child(["sh", "-c", script, "sh", folder.path])
    #expect(child.wait() == 0)
    #expect(try makeOther().importEntries(from: archive).entries == 1)
  }

  @Test func `an archive that is cut anywhere changes nothing`() throws {
    _ = try export(4)
    let whole = content(of: archive)
    let cut = folder.path + "/cut.tar"
    for length in stride(from: 0, to: whole.count - 1024, by: 100) {
      overwrite(cut, Array(whole[..<length]))
      let error = #expect(throws: CacheError.self) { try makeOther().importEntries(from: cut) }
      #expect(error?.code == .archive)
      #expect(error?.message == "`\(cut)` ends too early: it was cut off")
    }
    #expect(other.bodies.isEmpty)
  }

  @Test func `an archive with a flipped bit changes nothing, unless the bit has no meaning`() throws {
    _ = try export(4)
    let whole = content(of: archive)
    let damaged = folder.path + "/damaged.tar"
    for position in stride(from: 0, to: whole.count - 1024, by: 7) {
      var bytes = whole
      bytes[position] ^= 1 << UInt8(position % 8)
      overwrite(damaged, bytes)
      let cache = makeOther()
      do {
        _ = try cache.importEntries(from: damaged)
        // A bit in the padding of a block.
        for number in 0..<4 { #expect(cache.bytes("\(number)") == picture(number, size: 100 * number)) }
      } catch {
        #expect(try cache.info().entries == 0)
      }
      try cache.clear()
    }
  }

  @Test func `from a pipe, images before the fault are imported, and none is torn`() throws {
    _ = try export(10)
    let bytes = content(of: archive)
    let cut = folder.path + "/cut.tar"
    overwrite(cut, Array(bytes[..<(bytes.count / 2)]))
    let script = "cat \"$1\" | \"$2\" import \"$3\""
    let child = try Child(["sh", "-c", script, "sh", cut, Child.worker, other.cache])
    #expect(child.lines() == ["error `standard input` ends too early: it was cut off"])
    let cache = makeOther()
    let entries = try cache.info().entries
    #expect((1..<10).contains(entries))
    #expect(try cache.verify().whole == entries)
    let whole = try Child(["sh", "-c", script, "sh", archive, Child.worker, other.cache])
    #expect(whole.lines() == ["imported \(10 - entries) present \(entries)"])
  }

  /// A member of an archive, as any program could write it.
  func member(_ name: String, _ text: String, kind: UInt8 = 48) throws -> [UInt8] {
    var header = try #require(TarHeader.block(name: name, size: text.utf8.count, modifiedAt: 0))
    header[156] = kind
    for position in 148..<156 { header[position] = 32 }
    let sum = String(header.reduce(0) { $0 + Int($1) }, radix: 8)
    for (position, digit) in sum.utf8.enumerated() { header[148 + position] = digit }
    return header + Array(text.utf8) + [UInt8](repeating: 0, count: TarHeader.padding(of: text.utf8.count))
  }

  static let tricks: [(name: String, kind: UInt8, says: String)] = [
    ("/etc/passwd", 48, "is no export of feedimg: it holds `/etc/passwd`"),
    ("feedimg-cache/../../x", 48, "is no export of feedimg: it holds `feedimg-cache/../../x`"),
    ("feedimg-cache/../0123456789abcdef-0123456789abcdef.jpg", 48, "is no export of feedimg"),
    ("feedimg-cache/index.sqlite", 48, "is no export of feedimg: it holds `feedimg-cache/index.sqlite`"),
    ("feedimg-cache/0123456789abcdef-0123456789abcdef.jpg", 50, "is no plain file"),
    ("feedimg-cache/0123456789abcdef-0123456789abcdef.jpg", 49, "is no plain file"),
    ("feedimg-cache/0123456789abcdef-0123456789abcdef.jpg", 51, "is no plain file"),
    ("feedimg-cache/0123456789abcdef-0123456789abcdef.jpg", 48, "does not follow its record"),
    ("feedimg-cache/0123456789abcdef-0123456789abcdef.jpg.record", 48, "is damaged"),
    ("feedimg-cache/FORMAT", 48, "was exported by a later version"),
  ]

  @Test(arguments: tricks)
  func `a malicious archive changes nothing`(name: String, kind: UInt8, says: String) throws {
    let form = try member("feedimg-cache/FORMAT", CacheArchive.formText)
    overwrite(archive, form + (try member(name, "x", kind: kind)) + CacheArchive.end)
    let error = #expect(throws: CacheError.self) { try makeOther().importEntries(from: archive) }
    #expect(error?.message.contains(says) == true, "\(error?.message ?? "")")
    #expect(access(other.cache, F_OK) != 0)
  }

  @Test(arguments: [[], [UInt8](repeating: 0, count: 1024), picture(1, size: 5000), Array("PK".utf8)])
  func `a file that is not an archive is refused`(bytes: [UInt8]) throws {
    overwrite(archive, bytes)
    #expect(throws: CacheError.self) { try makeOther().importEntries(from: archive) }
    #expect(throws: CacheError.self) { try makeOther().importEntries(from: folder.path + "/nothing") }
    #expect(throws: CacheError.self) { try makeOther().importEntries(from: folder.path) }
  }

  @Test func `an import evicts nothing and takes the most recently used images that fit`() throws {
    _ = try export(10)
    let kiosk = makeOther(originals: 1500, pinned: 100)
    try kiosk.store("mine", picture(1, size: 700))
    let imported = try kiosk.importEntries(from: archive)
    // Of the originals 8, 6, 4, 2 and 0, the first fits, and so does the last, which is empty. The pinned
    // image does not fit.
    #expect(kiosk.contains(["mine", "8", "6", "4", "2", "0"]) == [true, true, false, false, false, true])
    #expect(imported.leftOut == 3)
    #expect(try kiosk.info().pinned.entries == 0)
    #expect(kiosk.contains(["3"]) == [true])
  }

  @Test func `newer stored images stay, older or damaged ones are replaced`() throws {
    _ = try export(4)
    let kiosk = makeOther()
    clock += 100
    try kiosk.store("1", picture(100))
    clock += -1000
    try kiosk.store("2", picture(200))
    clock += 1000
    let imported = try kiosk.importEntries(from: archive)
    #expect((imported.entries, imported.present) == (3, 1))
    #expect(kiosk.bytes("1") == picture(100))
    #expect(kiosk.bytes("2") == picture(2, size: 200))
  }

  @Test func `an image exported by a clock that is ahead does not stay newer than later downloads`() throws {
    clock += 365 * 86_400
    _ = try export(2)
    clock += -365 * 86_400
    let kiosk = makeOther()
    _ = try kiosk.importEntries(from: archive)
    #expect(try kiosk.list().allSatisfy { $0.storedAt == clock.now && $0.usedAt == clock.now })
  }

  @Test func `an export omits damaged, expired and personal images, and cookies`() throws {
    let cache = DiskCache(folder, clock: clock)
    try cache.store("expired", picture(1))
    clock += 8 * 86_400
    let damaged = try cache.store("damaged", picture(2))
    overwrite(damaged.path, picture(3))
    try cache.store("cookie", picture(4), fields: HTTPFields([.init(name: "Set-Cookie", value: "id=secret")]))
    let writer = try cache.makeWriter()
    let head = ResponseHead(status: 200, fields: HTTPFields(), url: try ImageURL("https://a/"))
    _ = try writer.commit(
      ImageMetadata(
        key: "personal",
        role: .original,
        mediaType: "",
        head: head,
        varied: HTTPFields([.init(name: "Cookie", value: "id=secret")])
      )
    )
    let exported = try cache.export(to: archive)
    #expect(exported == .init(entries: 1, size: ByteCount(1000), damaged: ["damaged"], personal: 1))
    #expect(!String(decoding: content(of: archive), as: UTF8.self).contains("secret"))
  }

  @Test func `an export that fails keeps the earlier file and leaves no other`() throws {
    let cache = try export(3)
    let before = content(of: archive)
    let script = """
      mount -t tmpfs -o size=64k tmpfs /mnt && cp "$1" /mnt/images.tar && ln -s images.tar /mnt/link &&
      "$2" export "$3" /mnt/link; ls -A /mnt; cmp "$1" /mnt/images.tar && echo same
      """
    for number in 0..<60 { try cache.store("more \(number)", picture(number)) }
    cache.close()
    guard let child = try Child.isolated(script, [archive, Child.worker, folder.cache]) else {
      try Test.cancel("the kernel refuses a mount namespace")
    }
    let lines = child.lines()
    #expect(lines.first?.hasSuffix(": no space left on device") == true)
    #expect(Array(lines.dropFirst()) == ["images.tar", "link", "same"])
    #expect(throws: CacheError.self) { try cache.export(to: archive) { done, _ in done < 2 } }
    #expect(content(of: archive) == before)
  }

  @Test func `an export replaces the target of a link and may write to a pipe`() throws {
    let cache = try export(3)
    let link = folder.path + "/link.tar"
    symlink("images.tar", link)
    unlink(archive)
    overwrite(archive, [1])
    #expect(try cache.export(to: link).entries == 3)
    #expect(content(of: archive).count > 5000)
    var status = stat()
    #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    let script = "\"$1\" export \"$2\" - | \"$1\" import \"$3\""
    let child = try Child(["sh", "-c", script, "sh", Child.worker, folder.cache, other.cache])
    #expect(child.lines() == ["imported 3 present 0"])
  }
}

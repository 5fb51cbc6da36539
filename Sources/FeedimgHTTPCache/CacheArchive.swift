import FeedimgModel
import FeedimgSystem
import Glibc

/// The format of an export, a tar archive.
///
/// ```
/// feedimg-cache/FORMAT                 the version of the format, the first member
/// feedimg-cache/3f…-9a….jpg.record     the record of an entry, a line of ``EntryRecord``
/// feedimg-cache/3f…-9a….jpg            its body
/// ```
/// Each record precedes its body, so that an import reads the archive once. The most recently used entries come first.
/// An import uses the names only to tell members apart; it never creates a file with a name from an archive.
enum CacheArchive {
  static let folder = "feedimg-cache/"
  static let form = "FORMAT"
  static let formText = "feedimg cache export 1\n"
  static let recordEnding = ".record"
  /// The size of the largest record, in bytes.
  static let maximumRecord = 1 << 20

  /// The kind of a member, by its name.
  enum Content: Hashable {
    case form
    case record(BodyName)
    case body(BodyName)
  }

  /// The kind of a member; nil for a foreign one.
  static func content(name: String) -> Content? {
    var rest = name[...]
    // Archives that a user packed again have this prefix.
    if rest.hasPrefix("./") { rest = rest.dropFirst(2) }
    guard rest.hasPrefix(folder) else { return nil }
    rest = rest.dropFirst(folder.count)
    if rest == form { return .form }
    if rest.hasSuffix(recordEnding) { return BodyName(rest.dropLast(recordEnding.count)).map(Content.record) }
    return BodyName(rest).map(Content.body)
  }

  /// One member, padded to whole blocks; nil if the format cannot hold it.
  static func member(_ name: String, _ content: [UInt8], modifiedAt: Double) -> [UInt8]? {
    guard let header = TarHeader.block(name: folder + name, size: content.count, modifiedAt: modifiedAt)
    else {
      return nil
    }
    return header + content + [UInt8](repeating: 0, count: TarHeader.padding(of: content.count))
  }

  /// The end of an archive: two empty blocks.
  static let end = [UInt8](repeating: 0, count: 2 * TarHeader.blockSize)
}

/// The header of one member of a tar archive, in the format of POSIX.1-1988 (`ustar`).
struct TarHeader: Hashable {
  enum Kind: UInt8 {
    case file = 48  // 0
    case folder = 53  // 5
    /// Attributes of the next member (POSIX.1-2001).
    case extended = 120  // x
    /// Attributes of all members that follow.
    case globallyExtended = 103  // g
  }

  /// The size of a header, in bytes.
  ///
  /// A content fills whole blocks.
  static let blockSize = 512
  /// The largest number of eleven octal digits.
  static let maximumNumber = 0o777_7777_7777

  var name: String
  /// The size of the content, in bytes.
  var size: Int
  /// Nil for kinds that an export never has, such as links and devices.
  var kind: Kind?

  /// The bytes between the end of a content and the end of its last block.
  static func padding(of size: Int) -> Int { (blockSize - size % blockSize) % blockSize }

  /// The header of a plain file.
  ///
  /// - Returns: Nil for a name or a size that the format cannot hold.
  static func block(name: String, size: Int, modifiedAt: Double) -> [UInt8]? {
    guard name.utf8.count <= Field.name.count, (0...maximumNumber).contains(size) else { return nil }
    var block = [UInt8](repeating: 0, count: blockSize)
    func put(_ text: some Sequence<UInt8>, _ field: Range<Int>) {
      for (position, byte) in zip(field, text) { block[position] = byte }
    }
    func put(_ number: Int, _ field: Range<Int>) {
      let digits = String(min(max(0, number), maximumNumber), radix: 8)
      let zeros = String(repeating: "0", count: max(0, field.count - 1 - digits.count))
      put((zeros + digits).utf8, field)
    }
    put(name.utf8, Field.name)
    put(0o600, Field.mode)
    put(0, Field.user)
    put(0, Field.group)
    put(size, Field.size)
    put(Milliseconds.count(modifiedAt) / 1000, Field.modification)
    block[Field.kind] = Kind.file.rawValue
    put("ustar\u{0}00".utf8, Field.magic)
    put(checksum(of: block), Field.checksum)
    return block
  }

  /// Reads a header; nil for a damaged one.
  init?(block: [UInt8]) {
    guard block.count == Self.blockSize, Self.number(block[Field.checksum]) == Self.checksum(of: block),
      let size = Self.number(block[Field.size])
    else { return nil }
    let isPosix = block[Field.magic.prefix(5)].elementsEqual("ustar".utf8)
    let prefix = isPosix && block[Field.magic.lowerBound + 5] == 0 ? Self.text(block[Field.prefix]) : ""
    let name = Self.text(block[Field.name])
    self.name = prefix.isEmpty ? name : "\(prefix)/\(name)"
    self.size = size
    // Archives older than POSIX have a zero for a plain file.
    kind = block[Field.kind] == 0 ? .file : Kind(rawValue: block[Field.kind])
  }

  private enum Field {
    static let name = 0..<100
    static let mode = 100..<108
    static let user = 108..<116
    static let group = 116..<124
    static let size = 124..<136
    static let modification = 136..<148
    static let checksum = 148..<156
    static let kind = 156
    static let magic = 257..<265
    static let prefix = 345..<500
  }

  /// The sum of all bytes, with spaces in place of the checksum field.
  private static func checksum(of block: [UInt8]) -> Int {
    block.indices.reduce(0) { $0 + (Field.checksum.contains($1) ? 32 : Int(block[$1])) }
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String {
    String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Octal digits, perhaps after spaces, before a space or a zero.
  private static func number(_ field: ArraySlice<UInt8>) -> Int? {
    let digits = field.drop { $0 == 32 }.prefix { $0 != 32 && $0 != 0 }
    return Int(String(decoding: digits, as: UTF8.self), radix: 8).flatMap { $0 >= 0 ? $0 : nil }
  }
}

/// Reads the members of an archive in order, from a file or a pipe.
struct ArchiveReader: ~Copyable {
  private let file: OpenFile
  private var buffer: [UInt8]
  /// The part of the buffer that was not read yet.
  private var unread = 0..<0
  /// The unread bytes of the current member, and the padding behind them.
  private var remaining = 0
  private var padding = 0
  private var isAtBeginning = true

  init(_ file: consuming OpenFile) {
    self.file = file
    buffer = [UInt8](repeating: 0, count: 1 << 17)
  }

  /// Whether the archive can be read twice.
  var isSeekable: Bool { lseek(file.descriptor, 0, SEEK_CUR) >= 0 }

  /// The position, for ``rewind(to:)``.
  func place() -> off_t { lseek(file.descriptor, 0, SEEK_CUR) }

  mutating func rewind(to place: off_t) throws(CacheError) {
    guard lseek(file.descriptor, place, SEEK_SET) == place else {
      throw CacheError(.archive, FileFault("read", file.path).description)
    }
    unread = 0..<0
    (remaining, padding) = (0, 0)
  }

  /// Skips the rest of the current member and reads the next header; nil at the end of the archive.
  mutating func next() throws(CacheError) -> TarHeader? {
    try skip()
    let block: [UInt8]
    do throws(CacheError) {
      block = try bytes(count: TarHeader.blockSize)
    } catch {
      // A short file of another format is no truncated archive.
      let beginning = buffer[..<min(unread.upperBound, CacheArchive.folder.utf8.count)]
      guard isAtBeginning, !CacheArchive.folder.utf8.starts(with: beginning) else { throw error }
      throw fault("is no archive that `feedimg cache export` wrote")
    }
    isAtBeginning = false
    if block.allSatisfy({ $0 == 0 }) { return nil }
    guard let header = TarHeader(block: block) else { throw fault("is damaged, or no archive") }
    remaining = header.size
    padding = TarHeader.padding(of: header.size)
    return header
  }

  /// Passes the content of the current member to the body, in pieces.
  mutating func readContent(
    _ body: (UnsafeRawBufferPointer) throws(CacheError) -> Void
  ) throws(CacheError) {
    while remaining > 0 {
      let piece = try fill(atMost: remaining)
      var trouble: CacheError?
      buffer.withUnsafeBytes { bytes in
        do throws(CacheError) {
          try body(UnsafeRawBufferPointer(rebasing: bytes[piece]))
        } catch {
          trouble = error
        }
      }
      if let trouble { throw trouble }
      remaining -= piece.count
    }
  }

  /// The content of the current member, which must have at most `limit` bytes.
  mutating func content(atMost limit: Int) throws(CacheError) -> [UInt8] {
    guard remaining <= limit else { throw fault("holds a member that is too long") }
    let content = try bytes(count: remaining)
    remaining = 0
    return content
  }

  func fault(_ what: String) -> CacheError { CacheError(.archive, "`\(file.path)` \(what)") }

  private mutating func skip() throws(CacheError) {
    try readContent { _ in }
    while padding > 0 { padding -= try fill(atMost: padding).count }
  }

  private mutating func bytes(count: Int) throws(CacheError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes += buffer[try fill(atMost: count - bytes.count)] }
    return bytes
  }

  /// The range of the next bytes in the buffer; at least one byte.
  private mutating func fill(atMost count: Int) throws(CacheError) -> Range<Int> {
    if unread.isEmpty {
      let got: Int
      do throws(FileFault) { got = try file.readNext(into: &buffer) } catch {
        throw CacheError(.archive, error.description)
      }
      guard got > 0 else { throw fault("ends too early: it was cut off") }
      unread = 0..<got
    }
    let piece = unread.prefix(count)
    unread = piece.upperBound..<unread.upperBound
    return piece
  }
}

/// The file of an export.
///
/// It replaces an earlier file when it is complete.
///
/// Until then the file has no name, so that nothing remains after a kill. File systems without unnamed files get a name
/// that ends in `.part`. A pipe or a device is written directly.
struct ArchiveFile: ~Copyable {
  private let file: OpenFile
  /// The final path; nil for a pipe or a device.
  private let target: String?
  private let part: String
  /// Whether the unfinished file has a name.
  private var isNamed: Bool

  /// - Parameter path: The file to write; it may be missing.
  /// - Throws: ``CacheError`` if the file cannot be written. An earlier file then remains.
  init(_ path: String) throws(CacheError) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    let isSpecial = isThere && status.st_mode & S_IFMT != S_IFREG
    // A symbolic link stays; the file that it leads to is replaced.
    let target = isThere ? Self.resolved(path) ?? path : path
    let part = "\(target).\(getpid()).part"
    let opened: (descriptor: Int32, isNamed: Bool)
    do throws(FileFault) {
      opened = try Self.open(target, part: part, isSpecial: isSpecial)
    } catch {
      throw CacheError(.folder, error.description)
    }
    self.target = isSpecial ? nil : target
    self.part = part
    isNamed = opened.isNamed
    file = OpenFile(descriptor: opened.descriptor, path: target)
  }

  /// Takes over a descriptor, such as that of standard output.
  init(descriptor: Int32, path: String) {
    file = OpenFile(descriptor: descriptor, path: path)
    target = nil
    part = ""
    isNamed = false
  }

  private static func open(
    _ target: String,
    part: String,
    isSpecial: Bool
  ) throws(FileFault) -> (descriptor: Int32, isNamed: Bool) {
    if isSpecial { return (try open(target, O_WRONLY | O_NOCTTY), false) }
    do throws(FileFault) {
      return (try open(folder(of: target), O_WRONLY | withoutName), false)
    } catch {
      guard [EOPNOTSUPP, EISDIR, EINVAL].contains(error.reason) else { throw error }
      return (try open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW), true)
    }
  }

  private static func open(_ path: String, _ flags: Int32) throws(FileFault) -> Int32 {
    let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileFault("write", path) }
    return descriptor
  }

  deinit { if isNamed { unlink(part) } }

  func write(_ bytes: [UInt8]) throws(CacheError) {
    do throws(FileFault) { try file.write(bytes) } catch { throw CacheError(.folder, error.description) }
  }

  /// Waits until the bytes are on the disk, then names the file.
  mutating func finish() throws(CacheError) {
    guard let target else { return }
    var isFinished = fsync(file.descriptor) == 0
    if isFinished, !isNamed {
      isNamed = linkat(AT_FDCWD, "/proc/self/fd/\(file.descriptor)", AT_FDCWD, part, AT_SYMLINK_FOLLOW) == 0
      isFinished = isNamed
    }
    guard isFinished, rename(part, target) == 0 else {
      throw CacheError(.folder, FileFault("write", target).description)
    }
    isNamed = false
  }

  /// `O_TMPFILE`, a macro that Swift does not import (Linux, asm-generic/fcntl.h).
  private static let withoutName = 0o20_000_000 | O_DIRECTORY

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func resolved(_ path: String) -> String? {
    guard let text = realpath(path, nil) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}

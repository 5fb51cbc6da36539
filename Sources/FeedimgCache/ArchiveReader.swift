import FeedimgModel
import Glibc

/// Reads the members of an archive one after the other, from a file or a pipe.
struct ArchiveReader: ~Copyable {
  private let file: OpenFile
  private var buffer: [UInt8]
  /// What of the buffer has not been given out.
  private var unread = 0..<0
  /// What of the content of the present member has not been read, with what fills its last block.
  private var remaining = 0
  private var padding = 0

  init(_ file: consuming OpenFile) {
    self.file = file
    buffer = [UInt8](repeating: 0, count: 1 << 17)
  }

  /// Whether the same can be read twice.
  var isSeekable: Bool { lseek(file.descriptor, 0, SEEK_CUR) >= 0 }

  /// Where it stands, to come back to.
  func place() -> off_t { lseek(file.descriptor, 0, SEEK_CUR) }

  mutating func rewind(to place: off_t) throws(CacheError) {
    guard lseek(file.descriptor, place, SEEK_SET) == place else {
      throw CacheError(.archive, FileFault("read", file.path).description)
    }
    unread = 0..<0
    (remaining, padding) = (0, 0)
  }

  /// The header of the next member, after whatever is left of the one before; nil at the end of the archive.
  mutating func next() throws(CacheError) -> TarHeader? {
    try skip()
    let block = try bytes(count: TarHeader.blockSize)
    if block.allSatisfy({ $0 == 0 }) { return nil }
    guard let header = TarHeader(block: block) else { throw fault("is damaged, or no archive") }
    remaining = header.size
    padding = TarHeader.padding(of: header.size)
    return header
  }

  /// Gives the content of the present member to the body, piece by piece.
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

  /// The content of the present member, which must be small.
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

  /// The place in the buffer of what comes next, at least one byte.
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

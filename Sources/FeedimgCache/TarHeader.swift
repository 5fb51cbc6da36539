/// The header of one member of a tar archive, as POSIX.1-1988 has it (`ustar`), which every tar reads.
struct TarHeader: Hashable {
  /// What a member is, by the byte that says so.
  enum Kind: UInt8 {
    case file = 48  // 0
    case folder = 53  // 5
    /// More about the next member (POSIX.1-2001), in a content of its own.
    case extended = 120  // x
    /// The same about all that follow.
    case globallyExtended = 103  // g
  }

  /// Headers take one block, and contents whole ones; in bytes.
  static let blockSize = 512
  /// What eleven octal digits can say.
  static let greatestNumber = 0o777_7777_7777

  var name: String
  /// Of the content, in bytes.
  var size: Int
  /// Nil for links, devices, and whatever else we never write.
  var kind: Kind?

  /// So many bytes fill the last block of a content.
  static func padding(of size: Int) -> Int { (blockSize - size % blockSize) % blockSize }

  /// A block for a plain file of the user's.
  ///
  /// - Returns: Nil for a name or a size that the format cannot hold.
  static func block(name: String, size: Int, modifiedAt: Double) -> [UInt8]? {
    guard name.utf8.count <= Field.name.count, (0...greatestNumber).contains(size) else { return nil }
    var block = [UInt8](repeating: 0, count: blockSize)
    func put(_ text: some Sequence<UInt8>, _ field: Range<Int>) {
      for (position, byte) in zip(field, text) { block[position] = byte }
    }
    func put(_ number: Int, _ field: Range<Int>) {
      let digits = String(min(max(0, number), greatestNumber), radix: 8)
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

  /// Reads a block; nil for one that is damaged or no header.
  init?(block: [UInt8]) {
    guard block.count == Self.blockSize, Self.number(block[Field.checksum]) == Self.checksum(of: block),
      let size = Self.number(block[Field.size])
    else { return nil }
    let isPosix = block[Field.magic.prefix(5)].elementsEqual("ustar".utf8)
    let prefix = isPosix && block[Field.magic.lowerBound + 5] == 0 ? Self.text(block[Field.prefix]) : ""
    let name = Self.text(block[Field.name])
    self.name = prefix.isEmpty ? name : "\(prefix)/\(name)"
    self.size = size
    // Archives older than POSIX say nothing of a plain file.
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

  /// The sum of all bytes, with spaces in place of the sum itself.
  private static func checksum(of block: [UInt8]) -> Int {
    block.indices.reduce(0) { $0 + (Field.checksum.contains($1) ? 32 : Int(block[$1])) }
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String {
    String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Octal digits, with spaces before and a space or zero after them.
  private static func number(_ field: ArraySlice<UInt8>) -> Int? {
    let digits = field.drop { $0 == 32 }.prefix { $0 != 32 && $0 != 0 }
    return Int(String(decoding: digits, as: UTF8.self), radix: 8).flatMap { $0 >= 0 ? $0 : nil }
  }
}

/// Iterates over the blocks of a GIF, up to the last block that has begun (GIF89a, sections 15 to 27).
struct GIFBlocks: IteratorProtocol {
  enum Block {
    case `extension`
    case image
    /// The trailer or an invalid block; ends the iteration.
    case other
  }

  private let bytes: [UInt8]
  private var place: Int
  /// Whether ``place`` is at the data of a block.
  private var isAtData = false

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    place = bytes.count > 10 ? 13 + Self.sizeOfColors(bytes[10]) : 13
  }

  mutating func next() -> Block? {
    if isAtData { passData() }
    guard place < bytes.count else { return nil }
    switch bytes[place] {
    case 0x21:
      place += 2
      isAtData = true
      return .extension
    case 0x2C:
      // The colour table and the code width precede the data.
      place = place + 9 < bytes.count ? place + 11 + Self.sizeOfColors(bytes[place + 9]) : bytes.count
      isAtData = true
      return .image
    default:
      place = bytes.count
      return .other
    }
  }

  /// Skips data sub-blocks, each prefixed with its length. An empty sub-block ends them.
  private mutating func passData() {
    while place < bytes.count, bytes[place] != 0 { place += 1 + Int(bytes[place]) }
    place += 1
    isAtData = false
  }

  private static func sizeOfColors(_ flags: UInt8) -> Int {
    flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
  }
}

package import FeedimgModel

/// How much a process keeps of images in memory, encoded and decoded apart.
package struct MemoryLimits: Sendable, Hashable {
  /// The most that images take as they came.
  package var encoded: ByteCount
  /// The most that images take as pixels.
  package var decoded: ByteCount

  package init(encoded: ByteCount, decoded: ByteCount) {
    self.encoded = encoded
    self.decoded = decoded
  }

  /// Divides what images may take in all.
  ///
  /// Pixels get two thirds, as they take several times the bytes that they came from; all goes to encoded images
  /// where nothing is decoded.
  package init(total: ByteCount, isDecoding: Bool) {
    decoded = ByteCount(isDecoding ? total.bytes / 3 * 2 : 0)
    encoded = ByteCount(total.bytes - decoded.bytes)
  }
}

/// What memory may keep for now, as pressure takes one after the other away.
package struct MemoryKinds: OptionSet, Sendable, Hashable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  package static let encoded = MemoryKinds(rawValue: 1 << 0)
  package static let decoded = MemoryKinds(rawValue: 1 << 1)
  /// What encoded images are kept as besides.
  package static let copies = MemoryKinds(rawValue: 1 << 2)
  package static let all: MemoryKinds = [.encoded, .decoded, .copies]
}

/// Which keys are being read, and of which of them there has been news meanwhile (pure).
///
/// What a read gives may be older than news that came while it lasted, whatever clocks say.
struct OpenReads: Sendable {
  private struct Read {
    var readers: Int
    var isOvertaken = false
  }

  private var reads: [String: Read] = [:]

  mutating func begin(_ key: String) { reads[key, default: Read(readers: 0)].readers += 1 }

  /// What is read of a key now may no longer be what there is.
  mutating func overtake(_ key: String) {
    // Mostly nobody reads, and then no key has to be hashed.
    guard !reads.isEmpty else { return }
    reads[key]?.isOvertaken = true
  }

  /// Ends what ``begin(_:)`` began.
  ///
  /// - Returns: Whether there was news; also where that came before this read, but during another that still lasts.
  mutating func end(_ key: String) -> Bool {
    guard var read = reads[key] else { return false }
    read.readers -= 1
    reads[key] = read.readers > 0 ? read : nil
    return read.isOvertaken
  }
}

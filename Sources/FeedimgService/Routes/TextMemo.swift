import Synchronization

/// What the texts that clients send again and again were read as.
final class TextMemo<Meaning: Sendable>: Sendable {
  /// How many are kept: more than are on a screen.
  private let greatestCount = 512
  /// Longer ones are read each time; in bytes.
  private let greatestLength = 2048

  private let meanings = Mutex<[String: Meaning]>([:])

  /// What a text means.
  ///
  /// - Parameters:
  ///   - text: What was sent.
  ///   - read: Reads one that is not known; must find the same each time.
  /// - Returns: Nil where it means nothing, which is not kept.
  func meaning(of text: String, _ read: (String) -> Meaning?) -> Meaning? {
    if let known = meanings.withLock({ $0[text] }) { return known }
    guard let meaning = read(text) else { return nil }
    if text.utf8.count <= greatestLength {
      meanings.withLock { meanings in
        if meanings.count >= greatestCount { meanings.removeAll() }
        meanings[text] = meaning
      }
    }
    return meaning
  }
}

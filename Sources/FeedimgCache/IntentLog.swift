import Glibc
import Synchronization

/// Names the bodies that are about to come and go, for whoever finds the log of a dead process.
///
/// Between a body and its row there is an instant in which a kill leaves one without the other. The log says where to
/// look for that, so that nobody has to look everywhere: it is written before that instant, locked while its owner
/// lives, and removed when the last commit that wrote to it has ended. A kill does not take away what was written.
final class IntentLog: Sendable {
  /// What is about to happen to a body.
  enum Intent: UInt8 {
    /// It gets its name, and then its row.
    case coming = 43  // +
    /// It has lost its row, and is about to lose its name.
    case going = 45  // -
  }

  static let ending = ".log"
  /// A longer log is ended and another begun; in bytes.
  private static let greatestLength = 1 << 16

  private let file: OpenFile
  private let length = Atomic(0)

  init(in folder: CacheFolder) throws(FileFault) {
    file = try folder.makeIncomingFile(ending: Self.ending, O_WRONLY | O_APPEND)
  }

  deinit { unlink(file.path) }

  /// Whether it can take no more, or nobody would find it.
  var isOver: Bool { length.load(ordering: .relaxed) > Self.greatestLength || file.isUnlinked }

  /// Notes what is about to happen; a full disk leaves it to the visits of shards to find what a kill would leave.
  func note(_ bodies: [BodyName], _ intent: Intent) {
    guard !bodies.isEmpty else { return }
    var lines: [UInt8] = []
    for body in bodies { lines += [intent.rawValue] + Array(body.text.utf8) + [UInt8(ascii: "\n")] }
    length.add(lines.count, ordering: .relaxed)
    try? file.write(lines)
  }

  /// Reads the log of a dead process: each body with what was about to happen to it last.
  static func read(_ file: borrowing OpenFile) throws(FileFault) -> [BodyName: Intent] {
    // The last line may be longer than the limit by all that goes with one commit.
    let content = try file.read(count: min(Int(try file.status().st_size), 1 << 20))
    var intents: [BodyName: Intent] = [:]
    for line in content.split(separator: UInt8(ascii: "\n")) {
      guard let intent = line.first.flatMap(Intent.init(rawValue:)) else { continue }
      guard let body = BodyName(utf8: line.dropFirst()) else { continue }
      intents[body] = intent
    }
    return intents
  }
}

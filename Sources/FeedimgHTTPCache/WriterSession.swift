import FeedimgSystem
import Glibc

/// A file in `incoming` that is locked while a process writes.
///
/// An unlocked one is from a process that was killed. There may then be bodies without rows, and rows without bodies.
final class WriterSession: Sendable {
  static let ending = ".session"

  private let file: OpenFile

  init(in folder: CacheFolder) throws(FileFault) {
    file = try folder.makeIncomingFile(ending: Self.ending)
  }

  deinit { unlink(file.path) }

  /// Whether the file is gone, as the folder was removed.
  var isOver: Bool { file.isUnlinked }
}

import FeedimgSystem
import Glibc

/// A file in `incoming` that is locked for as long as a process writes.
///
/// One that can be locked was left by a killed process: there may be bodies without rows, and rows without bodies.
final class WriterSession: Sendable {
  static let ending = ".session"

  private let file: OpenFile

  init(in folder: CacheFolder) throws(FileFault) {
    file = try IncomingBody.makeFile(in: folder, ending: Self.ending)
  }

  deinit { unlink(file.path) }

  /// Whether its file has gone, as the folder was removed.
  var isOver: Bool { file.isUnlinked }
}

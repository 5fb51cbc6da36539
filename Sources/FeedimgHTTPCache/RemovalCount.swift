import FeedimgSystem
import Glibc
import Synchronization

/// Counts the removals by users from a cache, for all processes: the length of its file `lock`.
///
/// After a removal, processes drop the images in their memory, and do not keep those that they are loading.
final class RemovalCount: Sendable {
  private struct State: ~Copyable {
    /// Kept open, because each use of an image in memory reads the count.
    var file: OpenFile?
    var count = 0
  }

  private let path: String
  /// Guards the open file; no call under it waits.
  private let state = Mutex(State())

  init(of folder: CacheFolder) { path = folder.lock }

  /// The number of removals since the folder was created.
  var value: Int {
    state.withLock { state in
      if let status = try? state.file?.status(), status.st_nlink > 0 {
        state.count = Int(status.st_size)
        return state.count
      }
      do throws(FileError) {
        let file = try OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        state.count = Int(try file.status().st_size)
        state.file = consume file
      } catch {
        state.file = nil
        if error.reason == ENOENT { state.count = 0 }
      }
      return state.count
    }
  }

  /// Counts a removal.
  func add() throws(FileError) {
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW
    let file = try OpenFile(path, to: "write", flags, mode: 0o600)
    do throws(FileError) {
      try file.write([0])
    } catch {
      // A full disk has space for a hole.
      guard error.isDiskFull, let status = try? file.status(),
        ftruncate(file.descriptor, status.st_size + 1) == 0
      else { throw error }
    }
  }
}

import FeedimgSystem
import Glibc
import Synchronization

/// Counts what users removed from a cache, for all processes: the length of its file `lock`.
///
/// Each byte is one removal. Processes then drop the images in their memory, and after a clear, the images that they
/// are writing.
final class RemovalCount: Sendable {
  enum Removal: UInt8 {
    case everything = 0
    case one = 1
  }

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
      do throws(FileFault) {
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

  /// Whether the cache was cleared after so many removals.
  ///
  /// If the file cannot be read, the response is yes.
  func includesClear(since count: Int) -> Bool {
    guard value > count else { return false }
    guard let file = try? OpenFile(path, to: "read", O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
      let status = try? file.status(), let removals = try? file.read(count: Int(status.st_size))
    else { return true }
    return removals.dropFirst(count).contains(Removal.everything.rawValue)
  }

  /// Counts a removal.
  func add(_ removal: Removal) throws(FileFault) {
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW
    let file = try OpenFile(path, to: "write", flags, mode: 0o600)
    do throws(FileFault) {
      try file.write([removal.rawValue])
    } catch {
      // A full disk has space for a hole, which reads as zero.
      guard error.isDiskFull, let status = try? file.status(),
        ftruncate(file.descriptor, status.st_size + 1) == 0
      else { throw error }
    }
  }
}

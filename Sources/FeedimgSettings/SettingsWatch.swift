import Glibc

/// Tells that a file may have changed, whoever changed it and however (inotify(7)).
///
/// The folder is watched, not the file, since editors put a new file in the place of the old one; where a symbolic
/// link leads elsewhere, the folder there as well; where the folder is missing, the nearest one above it that is not.
package final class SettingsWatch: Sendable {
  /// Readable when something happened; waiting for it is poll(2)'s work.
  package let descriptor: Int32
  private let path: FilePath

  /// Reading between the first write into a file and its closing would see it torn, so `IN_MODIFY` is left out.
  private static let events =
    UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
    | UInt32(IN_ONLYDIR)

  /// Nil where the system grants no watch, so that the file must be read every time instead.
  init?(path: FilePath) {
    descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
    self.path = path
    guard descriptor >= 0, arm() else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Takes in what has happened since the last call, without waiting.
  ///
  /// Watches what has come to stand in the path meanwhile, so what is read after this misses nothing.
  package func hasChanged() -> Bool {
    guard drain() else { return false }
    _ = arm()
    return true
  }

  /// What happened does not matter, nor does an overflow of the queue: all lead to reading the file again.
  private func drain() -> Bool {
    var block = [UInt8](repeating: 0, count: 4096)
    var hasEvents = false
    while read(descriptor, &block, block.count) > 0 { hasEvents = true }
    return hasEvents
  }

  /// Watching twice is watching once, and the kernel drops the watch of a folder that is gone.
  private func arm() -> Bool {
    let links = (try? path.links()) ?? [path]
    return links.allSatisfy { watchNearest($0.folder) }
  }

  private func watchNearest(_ wanted: String) -> Bool {
    var folder = wanted
    var above: String?
    // Folders that come and go meanwhile send the search up and down; a few rounds settle it.
    for _ in 0..<64 {
      if inotify_add_watch(descriptor, folder, Self.events) >= 0 {
        guard let missing = above, access(missing, F_OK) == 0 else { return true }
        // Made after it was found missing and before the folder above was watched.
        (folder, above) = (wanted, nil)
      } else {
        let parent = FilePath(folder).folder
        guard errno == ENOENT || errno == ENOTDIR, parent != folder else { return false }
        (folder, above) = (parent, folder)
      }
    }
    return false
  }
}

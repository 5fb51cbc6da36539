import Glibc

/// Tells that one of a few files may have changed, whoever changed it and however (inotify(7)).
///
/// The folders are watched, not the files, since editors put a new file in the place of the old one; where a symbolic
/// link leads elsewhere, the folder there as well; where the folder is missing, the nearest one above it that is not.
package final class SettingsWatch: Sendable {
  private let interest: FileInterest
  private let bell: FileBell?
  private let paths: [FilePath]

  /// Reading between the first write into a file and its closing would see it torn, so `IN_MODIFY` is left out.
  private static let events =
    UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
    | UInt32(IN_ONLYDIR)

  /// Nil where the system grants no watch, so that the file must be read every time instead.
  ///
  /// - Parameters:
  ///   - path: Of the file, which need not exist.
  ///   - onEvent: See ``FileInterest``.
  convenience init?(path: FilePath, onEvent: (@Sendable () -> Void)? = nil) {
    self.init([path], onEvent: onEvent)
  }

  /// The same for several files that need not exist; who holds it looks by itself.
  ///
  /// What is changed on another machine, of a folder that this one shares, is not told.
  package convenience init?(paths: [String]) { self.init(paths.map(FilePath.init), onEvent: nil) }

  private init?(_ paths: [FilePath], onEvent: (@Sendable () -> Void)?) {
    guard let interest = FileInterest(onEvent: onEvent) else { return nil }
    self.interest = interest
    self.paths = paths
    bell = nil
    guard arm() else { return nil }
  }

  /// The same, with a descriptor that can be read when something has happened.
  init?(path: FilePath, bell: FileBell) {
    guard let interest = FileInterest(onEvent: { bell.ring() }) else { return nil }
    self.interest = interest
    paths = [path]
    self.bell = bell
    guard arm() else { return nil }
  }

  /// For poll(2); negative, and so passed over, where there is none.
  package var descriptor: Int32 { bell?.descriptor ?? -1 }

  /// Takes in what has happened since the last call, without waiting.
  ///
  /// Watches what has come to stand in the path meanwhile, so what is read after this misses nothing.
  package func hasChanged() -> Bool {
    bell?.silence()
    // What happened does not matter: all leads to reading the file again.
    guard interest.hasChanged() else { return false }
    _ = arm()
    return true
  }

  /// Watching twice is watching once, and the kernel drops the watch of a folder that is gone.
  private func arm() -> Bool {
    paths.flatMap { (try? $0.links()) ?? [$0] }.allSatisfy { watchNearest($0.folder) }
  }

  private func watchNearest(_ wanted: String) -> Bool {
    var folder = wanted
    var above: String?
    // Folders that come and go meanwhile send the search up and down; a few rounds settle it.
    for _ in 0..<64 {
      if interest.watch(folder, Self.events) {
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

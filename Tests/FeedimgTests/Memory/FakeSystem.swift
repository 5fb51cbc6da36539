import FeedimgSystem
import FoundationEssentials
import Glibc

@testable import Feedimg
@testable import FeedimgPipeline

/// A folder in place of a system's root, with the kernel's memory files.
final class FakeSystem: Sendable {
  let files: SystemFiles

  /// The layout of Debian 12 and later, for a process in the group `/app`.
  static let grouped = ["/proc/self/cgroup": "0::/app\n", "/proc/self/mountinfo": unified]
  static let unified = "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

  init(_ content: [String: String] = [:]) throws {
    let folder = FileManager.default.temporaryDirectory.path
    files = SystemFiles(root: "\(folder)feedimg-system-\(UUID().uuidString)")
    for (path, text) in content { try write(path, text) }
  }

  deinit { try? FileManager.default.removeItem(atPath: files.root) }

  /// Writes in place, as the kernel changes its files.
  func write(_ path: String, _ text: String) throws {
    try makeFolder(of: path)
    let descriptor = open(files.path(path), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileError("write", path) }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count else {
      throw FileError("write", path)
    }
  }

  func link(_ path: String, to target: String) throws {
    try makeFolder(of: path)
    guard symlink(target, files.path(path)) == 0 else { throw FileError("write", path) }
  }

  /// Replaces the kernel's file by a pipe.
  ///
  /// Each byte that the test writes is an event.
  func makePipe(_ path: String) throws {
    try makeFolder(of: path)
    guard mkfifo(files.path(path), 0o600) == 0 else { throw FileError("write", path) }
  }

  private func makeFolder(of path: String) throws {
    let folder = URL(filePath: files.path(path)).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }
}

import Glibc

/// What threads are called by `top` and debuggers (proc(5)).
enum ThreadName {
  /// Names the calling thread; of a long name the first 15 bytes count.
  static func set(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = Array(name.utf8)
    _ = write(file, bytes, bytes.count)
  }
}

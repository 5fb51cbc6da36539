import Glibc

/// The number of files and sockets that the process may open.
enum DescriptorLimit {
  /// Raises the limit as far as the system allows, and returns it.
  static func raise() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    // More are never needed, and some libraries iterate over all of them.
    let wanted = min(limit.rlim_max, 16_384)
    if limit.rlim_cur < wanted {
      limit.rlim_cur = wanted
      _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return Int(clamping: limit.rlim_cur)
  }
}

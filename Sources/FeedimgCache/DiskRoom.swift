/// The room on the file system of a cache, which gives way before the disk is full (pure).
struct DiskRoom: Sendable, Hashable {
  /// What may still be written, in bytes.
  var available: Int
  /// Of the whole file system, in bytes.
  var size: Int

  /// What is left to others: a fiftieth of the file system, 256 MiB at most; in bytes.
  ///
  /// Less would let the cache be what fills a small disk, more would empty it on a large one that is nearly full, as
  /// many are for years.
  var reserve: Int { min(max(0, size) / 50, 256 << 20) }

  /// What the cache should give back, in bytes.
  var deficit: Int { max(0, reserve - max(0, available)) }
}

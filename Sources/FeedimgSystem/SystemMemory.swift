import CLinux

/// Memory with properties that plain `malloc` cannot give.
package enum SystemMemory {
  /// Makes all threads share one malloc arena, which takes less memory (mallopt(3)).
  ///
  /// - Parameter reusedLength: The largest block that malloc reuses, in bytes.
  package static func shareArena(reusedLength: Int) { clinux_share_arena(Int32(clamping: reusedLength)) }

  /// Makes malloc reuse freed blocks instead of returning them to the kernel.
  ///
  /// - Parameter length: The largest such block, in bytes.
  package static func reuse(upTo length: Int) { clinux_reuse_memory(Int32(clamping: length)) }

  /// Returns freed memory to the system (malloc_trim(3)).
  package static func trim() { clinux_trim_memory() }

  /// Copies bytes into an immutable file in memory (memfd_create(2), F_ADD_SEALS of fcntl(2)).
  ///
  /// - Returns: The descriptor, which the caller closes; nil if the system refuses.
  package static func seal(_ bytes: [UInt8]) -> Int32? {
    let descriptor = bytes.withUnsafeBytes { clinux_seal($0.baseAddress, $0.count) }
    return descriptor < 0 ? nil : descriptor
  }

  /// Makes an empty file in memory.
  ///
  /// - Returns: The descriptor, which the caller closes; nil if the system refuses.
  package static func file() -> Int32? {
    let descriptor = clinux_memory_file()
    return descriptor < 0 ? nil : descriptor
  }
}

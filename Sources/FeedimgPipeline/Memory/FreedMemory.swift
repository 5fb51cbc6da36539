import FeedimgSystem
import Glibc
import Synchronization

/// Returns memory to the system after many loads or slots at once have ended.
///
/// The tasks of a load take some 50 kB. glibc keeps freed memory for the process, and malloc_trim(3) returns it.
package enum FreedMemory {
  private struct State {
    var count = 0
    var peak = 0
  }

  /// The loads and slots at once after which memory is returned; they take some 12 MB.
  private static let many = 256
  private static let state = Mutex(State())

  /// Counts a load or a slot.
  package static func begin() {
    state.withLock { state in
      state.count += 1
      state.peak = max(state.peak, state.count)
    }
  }

  /// Ends a load or a slot; once a third of many has ended, memory is returned a second later.
  package static func end() {
    let isDue = state.withLock { state in
      state.count -= 1
      guard state.peak >= many, state.count <= state.peak / 3 * 2 else { return false }
      state.peak = state.count
      return true
    }
    guard isDue else { return }
    // A thread of its own, because the trim of a fragmented heap takes many milliseconds.
    _ = SystemThread.start("feedimg-trim") {
      // The callers of the last loads still have to end.
      sleep(1)
      SystemMemory.trim()
    }
  }
}

import CPixels

/// Stops a decoder on another thread.
package final class CancellationFlag: @unchecked Sendable {
  // Unchecked: only C reads and writes the flag, atomically.
  let pointer: UnsafeMutablePointer<cpixels_stop>
  private let ownsPointer: Bool

  package init() {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: cpixels_stop())
    ownsPointer = true
  }

  /// Uses a flag of a C program, which must outlive this object.
  ///
  /// - Parameter flag: Another thread sets it to 1, atomically.
  package init(flag: UnsafePointer<CInt>) {
    pointer = UnsafeMutableRawPointer(mutating: flag).bindMemory(to: cpixels_stop.self, capacity: 1)
    ownsPointer = false
  }

  deinit { if ownsPointer { pointer.deallocate() } }

  func set() { cpixels_ask_to_stop(pointer) }

  var isSet: Bool { cpixels_is_stopped(pointer) }
}

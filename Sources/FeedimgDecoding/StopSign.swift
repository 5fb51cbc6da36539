import CPixels

/// Stops a decoder on another thread.
final class StopSign: @unchecked Sendable {
  // Unchecked: only C reads and writes the flag, atomically.
  let pointer = UnsafeMutablePointer<cpixels_stop>.allocate(capacity: 1)

  init() { pointer.initialize(to: cpixels_stop()) }

  deinit { pointer.deallocate() }

  func set() { cpixels_ask_to_stop(pointer) }

  var isSet: Bool { cpixels_is_stopped(pointer) }
}

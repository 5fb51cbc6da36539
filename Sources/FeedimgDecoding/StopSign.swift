import CPixels

/// Tells a decoder on another thread to end.
final class StopSign: @unchecked Sendable {
  // Unchecked: what it points to is read and written by C alone, atomically.
  let pointer = UnsafeMutablePointer<cpixels_stop>.allocate(capacity: 1)

  init() { pointer.initialize(to: cpixels_stop()) }

  deinit { pointer.deallocate() }

  func set() { cpixels_ask_to_stop(pointer) }

  var isSet: Bool { cpixels_is_stopped(pointer) }
}

import FeedimgModel
import Synchronization

/// One pass over the frames of an encoded image, on the threads of the decoder.
final class CodecFrames: FrameReading {
  private struct Pass: @unchecked Sendable {
    // Unchecked: a thread takes the pass out of `idle` before it uses it, so that one thread does at a time.
    let sequence: FrameSequence
  }

  /// Guards the pass; nil while a thread decodes a frame, and after an error.
  private let idle: Mutex<Pass?>
  private let threads: DecodingThreads
  private let stop: CancellationFlag
  let loopCount: Int?

  /// Opens the image; runs on a decoder thread.
  init(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    _ limits: DecodingLimits,
    _ threads: DecodingThreads,
    _ stop: CancellationFlag
  ) throws(DecodeError) {
    let sequence = try CodecDecoder.sequence(bytes, request, limits, stop)
    loopCount = sequence.loopCount
    idle = Mutex(Pass(sequence: sequence))
    self.threads = threads
    self.stop = stop
  }

  func next() async throws(DecodeError) -> ImageAnimation.Frame? {
    try await threads.run(stop) { [self] () throws(DecodeError) in try decodeNext() }
  }

  private func decodeNext() throws(DecodeError) -> ImageAnimation.Frame? {
    guard let pass = idle.withLock({ $0.take() }) else {
      throw DecodeError(.unavailable, "the pass has failed, or a frame of it is being decoded")
    }
    let frame = try pass.sequence.next()
    idle.withLock { $0 = pass }
    return frame
  }
}

/// A copy of encoded bytes at a fixed address.
final class EncodedBytes: @unchecked Sendable {
  // Unchecked: no code writes to the buffer after the initialiser.
  let buffer: UnsafeBufferPointer<UInt8>

  init(_ bytes: [UInt8]) {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = copy.initialize(from: bytes)
    buffer = UnsafeBufferPointer(copy)
  }

  deinit { buffer.deallocate() }
}

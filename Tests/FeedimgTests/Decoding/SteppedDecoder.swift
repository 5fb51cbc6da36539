import FeedimgModel
import Synchronization

/// Decodes any number of frames of one pixel each, and returns each frame only when the test allows it.
final class SteppedDecoder: ImageDecoding {
  let mediaTypes = ["image/gif"]
  /// The number of frames requested in all passes.
  let asked = Atomic(0)
  /// The number of cancelled frames.
  let stopped = Atomic(0)
  private let allowed = Atomic(0)

  /// Allows this many frames in total.
  func allow(_ count: Int) { allowed.store(count, ordering: .releasing) }

  func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage {
    throw DecodeError(.unknownFormat, "no still picture")
  }

  func animation(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> ImageAnimation {
    throw DecodeError(.unknownFormat, "too long")
  }

  func frames(_ bytes: [UInt8], _ request: DecodeRequest) -> any FrameReading { Pass(decoder: self) }

  private final class Pass: FrameReading {
    let loopCount: Int? = nil
    private let decoder: SteppedDecoder

    init(decoder: SteppedDecoder) { self.decoder = decoder }

    func next() async throws(DecodeError) -> ImageAnimation.Frame? {
      let number = decoder.asked.add(1, ordering: .relaxed).newValue
      while number > decoder.allowed.load(ordering: .acquiring) {
        guard !Task.isCancelled else {
          decoder.stopped.add(1, ordering: .relaxed)
          throw DecodeError(.cancelled, "called off")
        }
        await Task.yield()
      }
      let pixel = [UInt8(truncatingIfNeeded: number), 0, 0, 255]
      let size = PixelSize(width: 1, height: 1)
      return Bitmap(size: size, format: .rgba, isOpaque: true, bytes: pixel)
        .map { ImageAnimation.Frame(bitmap: $0, duration: .milliseconds(number)) }
    }
  }
}

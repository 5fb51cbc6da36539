import FeedimgModel
import Synchronization

/// Decodes one pixel per request when the test releases it.
///
/// Its red is the length of the encoded image.
final class HeldDecoder: ImageDecoding {
  let mediaTypes = ["image/jpeg"]
  let width: Int
  /// The requested sizes, in order.
  let asked = RecordedValues<DisplaySize?>()
  /// The number of cancelled requests.
  let stopped = Atomic(0)
  private let isHeld: Atomic<Bool>

  init(isHeld: Bool = true, width: Int = .max) {
    self.isHeld = Atomic(isHeld)
    self.width = width
  }

  /// Holds back later requests.
  func hold() { isHeld.store(true, ordering: .releasing) }

  func release() { isHeld.store(false, ordering: .releasing) }

  func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage {
    asked.add(request.size)
    while isHeld.load(ordering: .acquiring) {
      guard !Task.isCancelled else {
        stopped.add(1, ordering: .relaxed)
        throw DecodeError(.cancelled, "called off")
      }
      await Task.yield()
    }
    let size = PixelSize(width: 1, height: 1)
    let pixel = [UInt8(truncatingIfNeeded: bytes.count), 0, 0, 255]
    guard let bitmap = Bitmap(size: size, format: request.format, isOpaque: true, bytes: pixel) else {
      throw DecodeError(.damaged, "no pixel")
    }
    return DecodedImage(bitmap: bitmap, sourceSize: size, isPartial: false, isAnimated: false)
  }

  func animation(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> ImageAnimation {
    throw DecodeError(.unknownFormat, "no animation")
  }
}

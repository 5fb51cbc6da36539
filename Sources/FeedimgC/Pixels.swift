import CFeedimg
import FeedimgModel

/// Returns the address of an array's elements, which is valid as long as the array.
///
/// An array does not move its elements unless it is changed, and handles never change theirs.
func stableAddress(of bytes: [UInt8]) -> UnsafeRawPointer? {
  bytes.withUnsafeBytes { $0.baseAddress }
}

/// Writes the pixels of a bitmap that a handle holds.
///
/// - Returns: 1; 0 without a bitmap.
/// - Throws: ``Failure`` for NULL.
func writePixels(_ bitmap: Bitmap?, to out: UnsafeMutablePointer<feedimg_pixels>?) throws(Failure) -> CInt {
  let out = try given(out, "out")
  guard let bitmap else { return 0 }
  let pixels = feedimg_pixels(
    size: 0,
    width: bitmap.size.width,
    height: bitmap.size.height,
    stride: bitmap.stride,
    data: stableAddress(of: bitmap.bytes)?.assumingMemoryBound(to: UInt8.self),
    is_opaque: bitmap.isOpaque ? 1 : 0
  )
  try write(pixels, to: out, "out")
  return 1
}

import CPixels
import CZimg
import FeedimgModel

/// Turns the output of a codec into a bitmap: resampled, in sRGB, upright.
///
/// Colours are converted after resampling, when fewer pixels are left.
struct RenderedFrame {
  let frame: cpixels_frame
  let head: cpixels_head
  let placement: Placement
  let format: Bitmap.Format
  let conversion: ColorConversion
  let stop: CancellationFlag

  private var isCMYK: Bool { frame.layout == CPIXELS_CMYK }
  /// CMYK pixels have no alpha channel.
  private var isOpaque: Bool { isCMYK ? frame.missing_rows == 0 : frame.is_opaque }
  private var count: Int { placement.storedSize.width * placement.storedSize.height }

  /// - Throws: ``DecodeError``, with `cancelled` when stopped.
  func bitmap() throws(DecodeError) -> Bitmap {
    var failure: DecodeError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count * 4) { buffer, initialized in
      guard let start = buffer.baseAddress else { return }
      failure = fill(start)
      if failure == nil { initialized = count * 4 }
    }
    if let failure { throw failure }
    let size = placement.isTurned ? placement.storedSize.turned : placement.storedSize
    let bitmap = Bitmap(size: size, format: format, isOpaque: isOpaque, bytes: upright(bytes))
    guard let bitmap else { throw DecodeError(.damaged, "a picture of \(size) pixels") }
    return bitmap
  }

  /// Fills the target with converted pixels, before rotation.
  private func fill(_ target: UnsafeMutablePointer<UInt8>) -> DecodeError? {
    let failure = needsNoResampling ? copy(target) : resample(target)
    // Resampling also fails when stopped.
    if stop.isSet { return DecodeError(.cancelled, "decoding was cancelled") }
    if let failure { return failure }
    conversion.apply(to: target, count: count, isOpaque: isOpaque)
    if isCMYK { clearMissingRows(target) }
    if format == .bgra { cpixels_swap_red_and_blue(target, count) }
    return nil
  }

  /// Makes the missing rows of a truncated CMYK image transparent, once its pixels have alpha.
  private func clearMissingRows(_ target: UnsafeMutablePointer<UInt8>) {
    guard frame.missing_rows > 0 else { return }
    let known = Double(frame.height - frame.missing_rows) * Double(head.height) / Double(frame.height)
    let (width, height) = (placement.storedSize.width, placement.storedSize.height)
    let shown = (known - placement.part.top) / placement.part.height * Double(height)
    let first = Int(min(max(0, shown), Double(height)))
    (target + first * width * 4).update(repeating: 0, count: (height - first) * width * 4)
  }

  private var needsNoResampling: Bool {
    frame.width == placement.storedSize.width && frame.height == placement.storedSize.height
      && placement.part.width == Double(head.width) && placement.part.height == Double(head.height)
  }

  private func copy(_ target: UnsafeMutablePointer<UInt8>) -> DecodeError? {
    let stride = Int(frame.width) * 4
    for row in 0..<Int(frame.height) {
      (target + row * stride).update(from: frame.pixels + row * frame.stride, count: stride)
    }
    if !isOpaque && !isCMYK { cpixels_premultiply(target, count) }
    return nil
  }

  private func resample(_ target: UnsafeMutablePointer<UInt8>) -> DecodeError? {
    // The codec may have decoded at a reduced size.
    let across = Double(frame.width) / Double(head.width)
    let down = Double(frame.height) / Double(head.height)
    var source = czimg_source()
    source.pixels = frame.pixels
    source.width = frame.width
    source.height = frame.height
    source.stride = frame.stride
    source.left = placement.part.left * across
    source.top = placement.part.top * down
    source.shown_width = placement.part.width * across
    source.shown_height = placement.part.height * down
    source.fourth = isCMYK ? CZIMG_COLOR : isOpaque ? CZIMG_NOTHING : CZIMG_ALPHA
    source.stop = UnsafePointer(stop.pointer)
    var reason = [CChar](repeating: 0, count: 200)
    let size = placement.storedSize
    guard czimg_resample(&source, target, UInt32(size.width), UInt32(size.height), &reason, reason.count)
    else {
      let words = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      return DecodeError(.unavailable, "the picture could not be resampled: \(words)")
    }
    return nil
  }

  private func upright(_ bytes: [UInt8]) -> [UInt8] {
    guard (2...8).contains(head.orientation) else { return bytes }
    return [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, initialized in
      guard let target = buffer.baseAddress else { return }
      let size = placement.storedSize
      bytes.withUnsafeBufferPointer { source in
        guard let source = source.baseAddress else { return }
        cpixels_orient(source, UInt32(size.width), UInt32(size.height), head.orientation, target)
      }
      initialized = bytes.count
    }
  }
}

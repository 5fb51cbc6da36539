import CFeedimg
import FeedimgModel

/// Reads the processors of a request, in order.
func readProcessors(
  _ processors: UnsafePointer<feedimg_processor>?,
  _ count: Int
) throws(CallError) -> [any ImageProcessing] {
  var read: [any ImageProcessing] = []
  for processor in try elements(processors, count, "processors") {
    switch processor.kind {
    case FEEDIMG_PROCESSOR_ROUNDED_CORNERS: read.append(RoundedCorners(radius: Int(processor.radius)))
    case FEEDIMG_PROCESSOR_BLUR: read.append(Blur(radius: Int(processor.radius)))
    case FEEDIMG_PROCESSOR_TINT:
      func part(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: processor.color >> shift) }
      read.append(Tint(red: part(16), green: part(8), blue: part(0), opacity: Double(part(24)) / 255))
    case FEEDIMG_PROCESSOR_FUNCTION:
      guard let process = processor.process, let identifier = text(processor.identifier) else {
        throw CallError(FEEDIMG_ERROR_ARGUMENT, "a processor has no function or no identifier")
      }
      read.append(ProgramProcessor(identifier: identifier, process: process, payload: processor.payload))
    default: throw CallError(FEEDIMG_ERROR_ARGUMENT, "the kind of a processor is \(processor.kind.rawValue)")
    }
  }
  return read
}

/// A processor that the program wrote.
private struct ProgramProcessor: ImageProcessing, @unchecked Sendable {
  // Unchecked: the program promises that any thread may call the function with the payload.
  let identifier: String
  let process: @convention(c) (UnsafeMutablePointer<UInt8>?, Int, Int, Int, UnsafeMutableRawPointer?) -> CInt
  let payload: UnsafeMutableRawPointer?

  func process(_ bitmap: Bitmap) throws(DecodeError) -> Bitmap {
    var bytes = bitmap.bytes
    let code = bytes.withUnsafeMutableBufferPointer {
      process($0.baseAddress, bitmap.size.width, bitmap.size.height, bitmap.stride, payload)
    }
    guard code == FEEDIMG_OK.rawValue else {
      throw DecodeError(DecodeError.Code(code), String(cString: feedimg_strerror(code)))
    }
    let isOpaque = bitmap.isOpaque && stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 }
    guard
      let changed = Bitmap(size: bitmap.size, format: bitmap.format, isOpaque: isOpaque, bytes: bytes)
    else { throw DecodeError(.unavailable, "the pixels of a processor are invalid") }
    return changed
  }
}

import CFeedimg
import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization

/// A decoder of the program, such as the one of `libfeedimg-decoding`.
final class ProgramDecoder: ImageDecoding, @unchecked Sendable {
  // Unchecked: the header tells the program that its functions are called on several threads. The texts of the
  // program are not read after `init`.
  private let decoder: feedimg_decoder
  /// The threads that decode nothing now.
  ///
  /// They stay, because a new thread may use another malloc arena, and the memory of each arena stays with the process.
  private let idle = Mutex<[ThreadExecutor]>([])
  let mediaTypes: [String]
  var width: Int { max(1, decoder.threads) }

  /// - Throws: ``CallError`` if a member is missing.
  init(_ decoder: feedimg_decoder) throws(CallError) {
    mediaTypes = list(try given(text(decoder.media_types), "decoder.media_types"))
    guard (0...64).contains(decoder.threads) else {
      throw CallError(FEEDIMG_ERROR_ARGUMENT, "`decoder.threads` is \(decoder.threads); expected 0 to 64")
    }
    _ = (try given(decoder.decode, "decoder.decode"), try given(decoder.release, "decoder.release"))
    self.decoder = decoder
  }

  deinit { for thread in idle.withLock({ $0 }) { thread.stop() } }

  func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage {
    let stop = StopFlag()
    // The loader decodes at most `width` images at once.
    let thread = idle.withLock { $0.popLast() } ?? ThreadExecutor("feedimg-decode")
    defer { idle.withLock { $0.append(thread) } }
    let result = await withTaskCancellationHandler {
      await thread.run { self.run(bytes, request, stop) }
    } onCancel: {
      stop.set()
    }
    return try result.get()
  }

  /// Decodes the first frame only.
  func animation(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> ImageAnimation {
    let frame = try await decode(bytes, request)
    return ImageAnimation(
      frames: [ImageAnimation.Frame(bitmap: frame.bitmap, duration: .zero)],
      loopCount: 1,
      isPartial: frame.isAnimated || frame.isPartial
    )
  }

  private func run(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    _ stop: StopFlag
  ) -> Result<DecodedImage, DecodeError> {
    var decoded = feedimg_decoded()
    decoded.size = MemoryLayout<feedimg_decoded>.stride
    var wanted = feedimg_pixel_request(request)
    let code = bytes.withUnsafeBytes { bytes in
      decoder.decode(&decoded, bytes.baseAddress, bytes.count, &wanted, stop.pointer, decoder.payload)
    }
    guard code == FEEDIMG_OK.rawValue else {
      return .failure(DecodeError(DecodeError.Code(code), String(cString: feedimg_strerror(code))))
    }
    defer { decoder.release(&decoded, decoder.payload) }
    guard let bitmap = Bitmap(decoded, request.format) else {
      return .failure(DecodeError(.damaged, "the decoder of the program returned an invalid bitmap"))
    }
    let image = DecodedImage(
      bitmap: bitmap,
      sourceSize: PixelSize(width: decoded.source_width, height: decoded.source_height),
      isPartial: decoded.is_partial != 0,
      isAnimated: decoded.is_animated != 0,
      detail: PixelSize(width: decoded.detail_width, height: decoded.detail_height)
    )
    return .success(image)
  }
}

/// Tells a decoder on another thread to stop.
private final class StopFlag: @unchecked Sendable {
  // Unchecked: all threads read and write the flag atomically, in C.
  let pointer = UnsafeMutablePointer<CInt>.allocate(capacity: 1)

  init() { pointer.initialize(to: 0) }

  deinit { pointer.deallocate() }

  func set() { cfeedimg_stop(pointer) }
}

extension feedimg_pixel_request {
  fileprivate init(_ request: DecodeRequest) {
    self.init()
    size = MemoryLayout<feedimg_pixel_request>.stride
    (width, height) = request.size?.limits ?? (0, 0)
    (scale, fills) = (request.size?.scale ?? 1, request.size?.fitting == .fill ? 1 : 0)
    shows_damage = request.damage == .show ? 1 : 0
  }
}

extension Bitmap {
  /// Copies the rows of a result; nil if its numbers cannot be right.
  fileprivate init?(_ decoded: feedimg_decoded, _ format: Format) {
    let (width, height, stride) = (decoded.width, decoded.height, decoded.stride)
    guard let data = decoded.data, (1...1 << 24).contains(width), (1...1 << 24).contains(height),
      stride >= width * 4, stride < 1 << 32
    else { return nil }
    let row = width * 4
    let bytes = [UInt8](unsafeUninitializedCapacity: row * height) { buffer, count in
      guard let target = buffer.baseAddress else { return }
      for y in 0..<height { memcpy(target + y * row, data + y * stride, row) }
      count = row * height
    }
    self.init(
      size: PixelSize(width: width, height: height),
      format: format,
      isOpaque: decoded.is_opaque != 0,
      bytes: bytes
    )
  }
}

extension DecodeError.Code {
  init(_ code: CInt) {
    self =
      switch feedimg_code(rawValue: code) {
      case FEEDIMG_ERROR_TOO_LARGE: .tooLarge
      case FEEDIMG_ERROR_CANCELLED: .cancelled
      case FEEDIMG_ERROR_UNAVAILABLE: .unavailable
      default: .damaged
      }
  }
}

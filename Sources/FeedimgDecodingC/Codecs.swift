// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg-decoding.h`.

public import CFeedimg
import FeedimgDecoding
import FeedimgModel
import Glibc

/// The pixels of a result, until the program releases them.
private final class DecodedPixels: Sendable {
  let bitmap: Bitmap

  init(_ bitmap: Bitmap) { self.bitmap = bitmap }
}

/// The decoder of the library, which lives as long as the process.
private struct Codecs: @unchecked Sendable {
  // Unchecked: the struct and its text never change.
  let pointer: UnsafePointer<feedimg_decoder>

  static let shared = Codecs()

  private init() {
    let codecs = CodecDecoder()
    let decoder = UnsafeMutablePointer<feedimg_decoder>.allocate(capacity: 1)
    decoder.initialize(
      to: feedimg_decoder(
        size: MemoryLayout<feedimg_decoder>.stride,
        media_types: UnsafePointer(strdup(codecs.mediaTypes.joined(separator: ","))),
        threads: codecs.width,
        decode: { out, bytes, length, request, stop, _ in
          guard let out, feedimg_decoded.hasHandle(out), let bytes, let request, let stop else {
            return FEEDIMG_ERROR_ARGUMENT.rawValue
          }
          let encoded = [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
          do throws(DecodeError) {
            let flag = CancellationFlag(flag: stop)
            let image = try CodecDecoder.decode(encoded, DecodeRequest(request), DecodingLimits(), flag)
            write(feedimg_decoded(image), to: out)
            return FEEDIMG_OK.rawValue
          } catch {
            return feedimg_code(error.code).rawValue
          }
        },
        release: { decoded, _ in
          guard let handle = decoded?.pointee.handle else { return }
          Unmanaged<DecodedPixels>.fromOpaque(handle).release()
        },
        payload: nil
      )
    )
    pointer = UnsafePointer(decoder)
  }
}

@c @implementation
public func feedimg_codecs() -> UnsafePointer<feedimg_decoder>? { Codecs.shared.pointer }

extension DecodeRequest {
  /// Reads each member by itself, because the struct of an older header is shorter.
  init(_ request: UnsafePointer<feedimg_pixel_request>) {
    self.init(
      DisplaySize(
        maximumWidth: request.pointee.width,
        maximumHeight: request.pointee.height,
        scale: request.pointee.scale,
        fitting: request.pointee.fills == 0 ? .fit : .fill
      ),
      format: .bgra,
      damage: request.pointee.shows_damage == 0 ? .refuse : .show
    )
  }
}

/// Writes as many members of a struct as the program knows.
func write<Struct: BitwiseCopyable>(_ value: Struct, to out: UnsafeMutablePointer<Struct>) {
  withUnsafeBytes(of: value) { cfeedimg_write(out, $0.baseAddress, $0.count) }
}

extension feedimg_decoded {
  /// Whether the struct of the program has the handle, without which the pixels are never released.
  fileprivate static func hasHandle(_ out: UnsafePointer<feedimg_decoded>) -> Bool {
    guard let handle = MemoryLayout<feedimg_decoded>.offset(of: \.handle) else { return false }
    return cfeedimg_size(out) > handle
  }

  /// Makes a result whose handle retains the pixels.
  fileprivate init(_ image: DecodedImage) {
    let bitmap = image.bitmap
    self.init(
      size: 0,
      width: bitmap.size.width,
      height: bitmap.size.height,
      stride: bitmap.stride,
      // An array does not move its elements unless it is changed.
      data: bitmap.bytes.withUnsafeBufferPointer { $0.baseAddress },
      is_opaque: bitmap.isOpaque ? 1 : 0,
      is_partial: image.isPartial ? 1 : 0,
      is_animated: image.isAnimated ? 1 : 0,
      source_width: image.sourceSize.width,
      source_height: image.sourceSize.height,
      detail_width: image.detail.width,
      detail_height: image.detail.height,
      handle: Unmanaged.passRetained(DecodedPixels(bitmap)).toOpaque()
    )
  }
}

extension feedimg_code {
  init(_ code: DecodeError.Code) {
    self =
      switch code {
      case .unknownFormat, .damaged: FEEDIMG_ERROR_NOT_AN_IMAGE
      case .tooLarge: FEEDIMG_ERROR_TOO_LARGE
      case .cancelled: FEEDIMG_ERROR_CANCELLED
      case .unavailable: FEEDIMG_ERROR_UNAVAILABLE
      }
  }
}

// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg-decoding.h`.

public import CFeedimg
import FeedimgDecoding
import FeedimgModel

/// The frames of an animation, and the pixels of the latest one.
private final class Frames {
  let sequence: FrameSequence
  var latest: Bitmap?

  init(_ sequence: FrameSequence) { self.sequence = sequence }

  static func of(_ frames: OpaquePointer?) -> Frames? {
    frames.map { Unmanaged<Frames>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
  }
}

@c @implementation
public func feedimg_frames_new(
  _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ bytes: UnsafeRawPointer?,
  _ length: Int,
  _ request: UnsafePointer<feedimg_pixel_request>?
) -> CInt {
  guard let out, let bytes else { return FEEDIMG_ERROR_ARGUMENT.rawValue }
  let encoded = [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
  do throws(DecodeError) {
    let pixels = request.map { DecodeRequest($0) } ?? DecodeRequest(nil, format: .bgra)
    let frames = Frames(try CodecDecoder.sequence(encoded, pixels, DecodingLimits(), CancellationFlag()))
    out.pointee = OpaquePointer(Unmanaged.passRetained(frames).toOpaque())
    return FEEDIMG_OK.rawValue
  } catch {
    return feedimg_code(error.code).rawValue
  }
}

@c @implementation
public func feedimg_frames_next(
  _ out: UnsafeMutablePointer<feedimg_frame>?,
  _ frames: OpaquePointer?
) -> CInt {
  guard let out, cfeedimg_size(out) > 0, let frames = Frames.of(frames) else {
    return FEEDIMG_ERROR_ARGUMENT.rawValue
  }
  do throws(DecodeError) {
    guard let frame = try frames.sequence.next() else { return 0 }
    frames.latest = frame.bitmap
    write(
      feedimg_frame(
        size: 0,
        width: frame.bitmap.size.width,
        height: frame.bitmap.size.height,
        stride: frame.bitmap.stride,
        // An array does not move its elements unless it is changed.
        data: frame.bitmap.bytes.withUnsafeBufferPointer { $0.baseAddress },
        is_opaque: frame.bitmap.isOpaque ? 1 : 0,
        milliseconds: Int64(frame.duration / .milliseconds(1))
      ),
      to: out
    )
    return 1
  } catch {
    return feedimg_code(error.code).rawValue
  }
}

@c @implementation
public func feedimg_frames_loop_count(_ frames: OpaquePointer?) -> CInt {
  CInt(clamping: Frames.of(frames)?.sequence.loopCount ?? 0)
}

@c @implementation
public func feedimg_frames_free(_ frames: OpaquePointer?) {
  guard let frames else { return }
  Unmanaged<Frames>.fromOpaque(UnsafeRawPointer(frames)).release()
}

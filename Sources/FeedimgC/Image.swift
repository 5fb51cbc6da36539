// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import FeedimgModel
import Synchronization

/// An image of the C interface.
final class ImageHandle: Sendable {
  let image: LoadedImage
  let mediaType: CText
  let url: CText
  let path: CText
  let why: CText
  let failure: ErrorRecord?
  /// The description, which is written on first use.
  private let description = Mutex<CText?>(nil)

  init(_ image: LoadedImage) {
    self.image = image
    (mediaType, url) = (CText(image.mediaType), CText(image.variant.url.description))
    (path, why) = (CText(image.path), CText(image.resolution.why))
    failure = image.failure.map { ErrorRecord(CallError($0)) }
  }

  var json: CText {
    description.withLock { description in
      let text = description ?? CText(image.json)
      description = text
      return text
    }
  }
}

@c @implementation
public func feedimg_image_free(_ image: OpaquePointer?) { release(image, as: ImageHandle.self) }

@c @implementation
public func feedimg_image_bytes(
  _ length: UnsafeMutablePointer<Int>?,
  _ image: OpaquePointer?
) -> UnsafeRawPointer? {
  let bytes = object(image, as: ImageHandle.self)?.image.bytes ?? []
  length?.pointee = bytes.count
  return stableAddress(of: bytes)
}

@c @implementation
public func feedimg_image_media_type(_ image: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(image, as: ImageHandle.self)?.mediaType.pointer
}

@c @implementation
public func feedimg_image_role(_ image: OpaquePointer?) -> feedimg_role {
  object(image, as: ImageHandle.self).map { feedimg_role(ShownImage($0.image.variant.role)) }
    ?? FEEDIMG_PLACEHOLDER
}

@c @implementation
public func feedimg_image_source(_ image: OpaquePointer?) -> feedimg_source {
  switch object(image, as: ImageHandle.self)?.image.source {
  case .memory: FEEDIMG_SOURCE_MEMORY
  case .disk: FEEDIMG_SOURCE_DISK
  case .network: FEEDIMG_SOURCE_NETWORK
  case nil: FEEDIMG_SOURCE_NONE
  }
}

@c @implementation
public func feedimg_image_url(_ image: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(image, as: ImageHandle.self)?.url.pointer
}

@c @implementation
public func feedimg_image_path(_ image: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(image, as: ImageHandle.self)?.path.pointer
}

@c @implementation
public func feedimg_image_why(_ image: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(image, as: ImageHandle.self)?.why.pointer
}

@c @implementation
public func feedimg_image_is_animated(_ image: OpaquePointer?) -> CInt {
  object(image, as: ImageHandle.self)?.image.isAnimated ?? false ? 1 : 0
}

@c @implementation
public func feedimg_image_failure(_ image: OpaquePointer?) -> UnsafePointer<feedimg_error>? {
  object(image, as: ImageHandle.self)?.failure?.pointer
}

@c @implementation
public func feedimg_image_json(_ image: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(image, as: ImageHandle.self)?.json.pointer
}

@c @implementation
public func feedimg_image_pixels(
  _ out: UnsafeMutablePointer<feedimg_pixels>?,
  _ image: OpaquePointer?
) -> CInt {
  attemptCount { () throws(CallError) in
    try writePixels(try given(image, "image", as: ImageHandle.self).image.bitmap, to: out)
  }
}

/// Returns the address of an array's elements, which is valid as long as the array.
///
/// An array does not move its elements unless it is changed, and handles never change theirs.
func stableAddress(of bytes: [UInt8]) -> UnsafeRawPointer? {
  bytes.withUnsafeBytes { $0.baseAddress }
}

/// Writes the pixels of a bitmap that a handle holds; returns 1, or 0 without a bitmap.
func writePixels(_ bitmap: Bitmap?, to out: UnsafeMutablePointer<feedimg_pixels>?) throws(CallError) -> CInt {
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

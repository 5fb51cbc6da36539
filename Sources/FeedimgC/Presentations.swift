// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import Feedimg
import FeedimgModel
import FeedimgPipeline

/// A presentation of the C interface.
final class PresentationHandle: Sendable {
  let presentation: Presentation
  let image: ImageHandle?
  let id: CText
  let color: CText
  let why: CText
  let error: ErrorRecord?

  init(_ presentation: Presentation) {
    self.presentation = presentation
    image = presentation.image.map(ImageHandle.init)
    (id, color) = (CText(presentation.item.id), CText(presentation.item.placeholder.color))
    why = CText(presentation.resolution?.why)
    error = presentation.error.map { ErrorRecord(CallError($0)) }
  }
}

@c @implementation
public func feedimg_presentation_free(_ presentation: OpaquePointer?) {
  release(presentation, as: PresentationHandle.self)
}

@c @implementation
public func feedimg_presentation_shown(_ presentation: OpaquePointer?) -> feedimg_role {
  object(presentation, as: PresentationHandle.self).map { feedimg_role($0.presentation.shown) }
    ?? FEEDIMG_PLACEHOLDER
}

@c @implementation
public func feedimg_presentation_item_id(_ presentation: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(presentation, as: PresentationHandle.self)?.id.pointer
}

@c @implementation
public func feedimg_presentation_color(_ presentation: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(presentation, as: PresentationHandle.self)?.color.pointer
}

@c @implementation
public func feedimg_presentation_is_loading(_ presentation: OpaquePointer?) -> CInt {
  object(presentation, as: PresentationHandle.self)?.presentation.isLoading ?? false ? 1 : 0
}

@c @implementation
public func feedimg_presentation_is_partial(_ presentation: OpaquePointer?) -> CInt {
  object(presentation, as: PresentationHandle.self)?.presentation.scan != nil ? 1 : 0
}

@c @implementation
public func feedimg_presentation_progress(
  _ received: UnsafeMutablePointer<UInt64>?,
  _ total: UnsafeMutablePointer<UInt64>?,
  _ presentation: OpaquePointer?
) -> CInt {
  guard let progress = object(presentation, as: PresentationHandle.self)?.presentation.progress else {
    return 0
  }
  received?.pointee = UInt64(progress.received.bytes)
  total?.pointee = UInt64(progress.total?.bytes ?? 0)
  return 1
}

@c @implementation
public func feedimg_presentation_error(_ presentation: OpaquePointer?) -> UnsafePointer<feedimg_error>? {
  object(presentation, as: PresentationHandle.self)?.error?.pointer
}

@c @implementation
public func feedimg_presentation_why(_ presentation: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(presentation, as: PresentationHandle.self)?.why.pointer
}

@c @implementation
public func feedimg_presentation_image(_ presentation: OpaquePointer?) -> OpaquePointer? {
  object(presentation, as: PresentationHandle.self)?.image.map {
    OpaquePointer(Unmanaged.passUnretained($0).toOpaque())
  }
}

@c @implementation
public func feedimg_presentation_pixels(
  _ out: UnsafeMutablePointer<feedimg_pixels>?,
  _ presentation: OpaquePointer?
) -> CInt {
  attemptCount { () throws(CallError) in
    let handle = try given(presentation, "presentation", as: PresentationHandle.self)
    return try writePixels(handle.presentation.pixels, to: out)
  }
}

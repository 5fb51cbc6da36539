// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import FeedimgModel
import FeedimgPipeline

/// A decision of the C interface.
final class ResolutionHandle: Sendable {
  let decision: Decision
  let url: CText
  let policy: CText
  let why: CText
  let json: CText

  init(_ resolution: Resolution) {
    decision = resolution.decision
    (url, policy) = (CText(resolution.url?.description), CText(resolution.policy))
    (why, json) = (CText(resolution.why), CText(resolution.json))
  }
}

extension feedimg_role {
  init(_ image: ShownImage) {
    self =
      switch image {
      case .original: FEEDIMG_ORIGINAL
      case .thumbnail: FEEDIMG_THUMBNAIL
      case .placeholder: FEEDIMG_PLACEHOLDER
      }
  }
}

@c @implementation
public func feedimg_loader_resolve(
  _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ loader: OpaquePointer?,
  _ item: OpaquePointer?,
  _ facts: UnsafePointer<feedimg_fact>?,
  _ fact_count: Int
) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    let loader = try given(loader, "loader", as: LoaderHandle.self).loader
    let item = try given(item, "item", as: ItemHandle.self).item
    out.pointee = handle(ResolutionHandle(loader.resolve(item, facts: try readFacts(facts, fact_count))))
  }
}

@c @implementation
public func feedimg_resolution_free(_ resolution: OpaquePointer?) {
  release(resolution, as: ResolutionHandle.self)
}

@c @implementation
public func feedimg_resolution_image(_ resolution: OpaquePointer?) -> feedimg_role {
  object(resolution, as: ResolutionHandle.self).map { feedimg_role($0.decision.image) } ?? FEEDIMG_PLACEHOLDER
}

@c @implementation
public func feedimg_resolution_show(_ resolution: OpaquePointer?) -> feedimg_role {
  object(resolution, as: ResolutionHandle.self).map { feedimg_role($0.decision.show) } ?? FEEDIMG_PLACEHOLDER
}

@c @implementation
public func feedimg_resolution_source(_ resolution: OpaquePointer?) -> feedimg_source {
  switch object(resolution, as: ResolutionHandle.self)?.decision.source ?? ImageSource.none {
  case .cache: FEEDIMG_SOURCE_CACHE
  case .network: FEEDIMG_SOURCE_NETWORK
  case .none: FEEDIMG_SOURCE_NONE
  }
}

@c @implementation
public func feedimg_resolution_url(_ resolution: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(resolution, as: ResolutionHandle.self)?.url.pointer
}

@c @implementation
public func feedimg_resolution_policy(_ resolution: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(resolution, as: ResolutionHandle.self)?.policy.pointer
}

@c @implementation
public func feedimg_resolution_why(_ resolution: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(resolution, as: ResolutionHandle.self)?.why.pointer
}

@c @implementation
public func feedimg_resolution_json(_ resolution: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(resolution, as: ResolutionHandle.self)?.json.pointer
}

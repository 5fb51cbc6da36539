import CFeedimg
import FeedimgModel
import FeedimgPipeline

/// The options of one load.
struct LoadOptions {
  var priority = LoadPriority.visible
  var pixels: DecodeRequest?
  var facts: [String: String] = [:]
  var cache = CachePolicy.default
  var policy: String?
  var progress: feedimg_progress_callback?

  /// Reads the options; NULL has the defaults.
  init(_ pointer: UnsafePointer<feedimg_load_options>?) throws(CallError) {
    guard let options = try read(pointer, "options") else { return }
    priority = try LoadPriority(options.priority)
    if let request = try read(options.pixels, "options.pixels") { pixels = try DecodeRequest(request) }
    facts = try readFacts(options.facts, options.fact_count)
    cache = try CachePolicy(options.cache)
    policy = text(options.policy)
    progress = options.progress
  }
}

extension LoadPriority {
  init(_ priority: feedimg_priority) throws(CallError) {
    switch priority {
    case FEEDIMG_PRIORITY_VISIBLE: self = .visible
    case FEEDIMG_PRIORITY_NEAR: self = .near
    case FEEDIMG_PRIORITY_PREFETCH: self = .prefetch
    default: throw CallError(FEEDIMG_ERROR_ARGUMENT, "the priority is \(priority.rawValue)")
    }
  }
}

extension CachePolicy {
  init(_ cache: feedimg_cache) throws(CallError) {
    switch cache {
    case FEEDIMG_CACHE_DEFAULT: self = .default
    case FEEDIMG_CACHE_RELOAD: self = .reload
    case FEEDIMG_CACHE_ONLY: self = .cacheOnly
    case FEEDIMG_CACHE_BYPASS_MEMORY: self = .bypassMemory
    case FEEDIMG_CACHE_BYPASS_DISK: self = .bypassDisk
    default: throw CallError(FEEDIMG_ERROR_ARGUMENT, "the cache policy is \(cache.rawValue)")
    }
  }
}

extension DecodeRequest {
  fileprivate init(_ request: feedimg_pixel_request) throws(CallError) {
    self.init(
      DisplaySize(
        maximumWidth: request.width,
        maximumHeight: request.height,
        scale: request.scale,
        fitting: request.fills == 0 ? .fit : .fill
      ),
      format: .bgra,
      damage: request.shows_damage == 0 ? .refuse : .show,
      processors: try readProcessors(request.processors, request.processor_count)
    )
  }
}

public import Feedimg
public import Logging

/// Logs every step of every load with swift-log.
///
/// The level depends on the step:
///
/// - error: a load failed permanently
/// - warning: a retry follows, or the image was not stored
/// - info: a load ended
/// - trace: progress
/// - debug: all other steps
///
/// The metadata contains URLs without user, password and query, which may be secret. `url` is the URL that the
/// policy chose or that failed. Lines of other steps have the URLs of the item as `original` and `thumbnail`.
/// All lines of one load have the same `load`.
public struct LoadLogger: LoadObserving {
  private let logger: Logger

  /// - Parameter logger: The logger to write to; its log level applies.
  public init(_ logger: Logger = Logger(label: "feedimg")) { self.logger = logger }

  /// Logs one step.
  public func observe(_ event: LoadEvent) {
    let level = event.step.level
    guard logger.logLevel <= level else { return }
    logger.log(level: level, "\(event.step.message)", metadata: metadata(event))
  }

  private func metadata(_ event: LoadEvent) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["load": "\(event.load)"]
    if let id = event.item.id { metadata["item"] = "\(id)" }
    if let url = event.step.url {
      metadata["url"] = "\(Self.plain(url))"
    } else {
      // The step does not tell which of them the policy chose.
      for variant in [event.item.original, event.item.thumbnail].compactMap(\.self) {
        metadata[variant.role.rawValue] = "\(Self.plain(variant.url))"
      }
    }
    switch event.step {
    case .decided(let resolution):
      metadata["image"] = "\(resolution.decision.image.rawValue)"
      metadata["why"] = "\(resolution.why)"
    case .redirected(let url): metadata["to"] = "\(Self.plain(url))"
    case .responded(let status): metadata["status"] = "\(status)"
    case .resumed(let kept): metadata["kept"] = "\(kept.bytes)"
    case .progress(let progress): metadata["received"] = "\(progress.received.bytes)"
    case .verified(let mediaType): metadata["type"] = "\(mediaType)"
    case .decoded(let size): metadata["pixels"] = "\(size)"
    case .stored(let path): metadata["path"] = "\(path)"
    case .notStored(let reason): metadata["why"] = "\(reason)"
    case .found(let source), .finished(let source): metadata["source"] = "\(source.rawValue)"
    case .revalidated(let isNew): metadata["new"] = "\(isNew)"
    case .retried(let error, let wait):
      metadata["error"] = "\(error.code.rawValue)"
      metadata["why"] = "\(error.message)"
      metadata["after"] = "\(wait)"
    case .failed(let error), .notRevalidated(let error):
      metadata["error"] = "\(error.code.rawValue)"
      metadata["why"] = "\(error.message)"
    case .missed, .joined, .queued, .started, .paused, .requested, .cancelled: break
    }
    return metadata
  }

  /// A URL without user, password, query and fragment.
  private static func plain(_ url: ImageURL) -> String {
    String(Substring(url.description.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
  }
}

extension LoadEvent.Step {
  fileprivate var level: Logger.Level {
    switch self {
    // If the policy shows a placeholder, no image is loaded, and this is not an error.
    case .failed(let error): error.code == .nothingToShow ? .info : .error
    case .retried, .notStored: .warning
    case .finished, .cancelled, .notRevalidated: .info
    case .progress: .trace
    default: .debug
    }
  }

  /// The URL that was chosen or that failed; nil if the step tells none.
  fileprivate var url: ImageURL? {
    switch self {
    case .decided(let resolution): resolution.url
    case .retried(let error, _), .failed(let error), .notRevalidated(let error): error.url
    default: nil
    }
  }

  fileprivate var message: String {
    switch self {
    case .decided: "decided"
    case .found: "found in the cache"
    case .missed: "not in the cache"
    case .joined: "joined a running load"
    case .queued: "waiting for a transfer slot"
    case .started: "transfer started"
    case .paused: "paused for a more urgent transfer"
    case .requested: "request sent"
    case .redirected: "redirected"
    case .responded: "response received"
    case .resumed: "transfer resumed"
    case .progress: "bytes arrived"
    case .verified: "image verified"
    case .decoded: "image decoded"
    case .stored: "image stored"
    case .notStored: "image not stored"
    case .revalidated: "revalidated"
    case .notRevalidated: "revalidation failed"
    case .retried: "transfer failed, will retry"
    case .finished: "load finished"
    case .failed: "load failed"
    case .cancelled: "load cancelled"
    }
  }
}

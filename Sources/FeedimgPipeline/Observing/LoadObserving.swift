public import FeedimgModel

/// Hears of every step of every load.
///
/// For logs, metrics and traces; see ``ImageLoader/Configuration/observers``. A loader without observers does not even
/// make the events.
public protocol LoadObserving: Sendable {
  /// Called as it happens, on whatever thread it happens, for several loads at the same time.
  ///
  /// Must return at once: the load waits.
  func observe(_ event: LoadEvent)
}

/// One step of a load.
public struct LoadEvent: Sendable, Hashable {
  /// What happened.
  public enum Step: Sendable, Hashable {
    /// The policy has decided; more than once where the facts changed on the way.
    case decided(Resolution)
    /// The image was in memory or on disk.
    case found(LoadedImage.Source)
    /// The image was neither in memory nor on disk.
    case missed
    /// Another load of the same image runs already: this one waits for it, and its steps are told under that one.
    case joined
    /// The transfer waits for its place among the others.
    case queued
    /// The transfer has its place.
    case started
    /// The transfer gives its place to a more urgent one, and waits again.
    case paused
    /// A connection is there, and the request goes out on it.
    case requested
    /// The server says that the image is elsewhere.
    case redirected(ImageURL)
    /// The head of the answer has come.
    case answered(status: Int)
    /// The transfer goes on behind so much of the image, which another one has brought.
    case resumed(ByteCount)
    /// Bytes of the image have come.
    case progress(LoadProgress)
    /// The bytes are a whole image of this media type.
    case verified(mediaType: String)
    /// The image has been decoded, to so many pixels.
    case decoded(PixelSize)
    /// The image is on disk, in this file; for a slot, this may follow ``finished(_:)``.
    case stored(path: String)
    /// The image is not kept; why, in words.
    case notStored(String)
    /// The server of a cached image was asked about it: whether it has another one by now.
    case revalidated(isNew: Bool)
    /// The server of a cached image could not say whether it has another one.
    case notRevalidated(LoadError)
    /// A try failed, and there will be another one after this time.
    case retried(LoadError, after: Duration)
    /// The load has ended with an image.
    case finished(LoadedImage.Source)
    /// The load has ended without an image, also where there is only the placeholder.
    case failed(LoadError)
    /// Who wanted the image has left.
    case cancelled
  }

  /// What tells the load from all others of this process.
  ///
  /// A transfer that others have joined is told under the load that began it, also when that has ended.
  public var load: Int
  /// What is loaded.
  public var item: FeedItem
  /// When it happened; goes on while the computer sleeps, and never jumps.
  public var time: ContinuousClock.Instant
  /// What happened.
  public var step: Step

  /// Makes an event, such as for the test of an observer.
  public init(load: Int, item: FeedItem, time: ContinuousClock.Instant, step: Step) {
    self.load = load
    self.item = item
    self.time = time
    self.step = step
  }
}

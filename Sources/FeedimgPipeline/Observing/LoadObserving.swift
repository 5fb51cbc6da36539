public import FeedimgModel
import FeedimgSystem
import Synchronization

/// An observer of every step of every load, for logs, metrics and traces.
///
/// See ``ImageLoader/Configuration/observers``. A loader without observers makes no events.
public protocol LoadObserving: Sendable {
  /// Receives an event as it happens, on any thread, for several loads at the same time.
  ///
  /// The method must return at once, because the load waits.
  ///
  /// - Parameter event: The event.
  func observe(_ event: LoadEvent)
}

/// One step of a load.
public struct LoadEvent: Sendable, Hashable {
  /// The kinds of steps.
  public enum Step: Sendable, Hashable {
    /// The policy has decided; this step repeats if the facts change during the load.
    case decided(Resolution)
    /// The image was in memory or on disk.
    case found(LoadedImage.Source)
    /// The image was neither in memory nor on disk.
    case missed
    /// The load has joined another load of the same image; the steps of the transfer belong to that one.
    case joined
    /// The transfer waits for a place among the others.
    case queued
    /// The transfer has a place.
    case started
    /// The transfer has given its place to a more urgent one, and waits again.
    case paused
    /// The connection is open, and the request is sent.
    case requested
    /// The server redirected the request to another URL.
    case redirected(ImageURL)
    /// The response head has arrived.
    case responded(status: Int)
    /// The transfer resumes after the bytes that an earlier one has received.
    case resumed(ByteCount)
    /// Bytes of the image have arrived.
    case progress(LoadProgress)
    /// The bytes are a complete image of this media type.
    case verified(mediaType: String)
    /// The image has been decoded to pixels of this size.
    case decoded(PixelSize)
    /// The image is on disk, in this file; for a slot, this may follow ``finished(_:)``.
    case stored(path: String)
    /// The image is not kept, for this reason.
    case notStored(String)
    /// The server has revalidated a cached image, and may have sent a new one.
    case revalidated(isNew: Bool)
    /// The server could not revalidate a cached image.
    case notRevalidated(LoadError)
    /// An attempt failed; the next one follows after this time.
    case retried(LoadError, after: Duration)
    /// The load has ended with an image.
    case finished(LoadedImage.Source)
    /// The load has ended without an image; the policy may have chosen the placeholder.
    case failed(LoadError)
    /// The caller has cancelled the load.
    case cancelled
  }

  /// The number of the load, unique in this process.
  ///
  /// The steps of a joined transfer belong to the load that started it, even after that load has ended.
  public var load: Int
  /// The item that is loaded.
  public var item: FeedItem
  /// The time of the step; this clock continues while the computer sleeps, and never jumps.
  public var time: ContinuousClock.Instant
  /// The kind of step.
  public var step: Step

  /// Makes an event, such as to test an observer.
  ///
  /// - Parameters:
  ///   - load: The number of the load.
  ///   - item: The item that is loaded.
  ///   - time: The time of the step.
  ///   - step: The kind of step.
  public init(load: Int, item: FeedItem, time: ContinuousClock.Instant, step: Step) {
    self.load = load
    self.item = item
    self.time = time
    self.step = step
  }
}

/// The progress of one image's transfer.
public struct LoadProgress: Sendable, Hashable {
  /// The bytes received so far.
  public var received: ByteCount
  /// The length that the server announced; nil if it announced none.
  public var total: ByteCount?

  /// Makes a progress value, such as to test an observer.
  ///
  /// - Parameters:
  ///   - received: The bytes received so far.
  ///   - total: The announced length; nil if unknown.
  public init(received: ByteCount, total: ByteCount?) {
    self.received = received
    self.total = total
  }
}

/// Reports the steps of one load to its observers.
///
/// The value travels with the load's task and the tasks that it starts, so that no function has to pass it
/// on.
struct LoadEventReporter: Sendable {
  /// The reporter for the load of the calling task; nil without observers.
  @TaskLocal static var present: LoadEventReporter?

  private static let lastLoad = Atomic(0)

  private let load: Int
  private let item: FeedItem
  private let observers: [any LoadObserving]
  private let clock = ContinuousClock()

  /// Performs a load with a reporter, and reports its result.
  static func attend(
    _ item: FeedItem,
    _ observers: [any LoadObserving],
    _ load: () async throws(LoadError) -> LoadedImage
  ) async throws(LoadError) -> LoadedImage {
    guard !observers.isEmpty else { return try await load() }
    let number = lastLoad.wrappingAdd(1, ordering: .relaxed).newValue
    let reporter = LoadEventReporter(load: number, item: item, observers: observers)
    let result = await $present.withValue(reporter) { await Result.of(load) }
    switch result {
    case .success(let image): reporter.report(.finished(image.source))
    case .failure(let error): reporter.report(error.code == .cancelled ? .cancelled : .failed(error))
    }
    return try result.get()
  }

  /// Reports a step of the calling task's load to its observers, if any.
  static func report(_ step: @autoclosure () -> LoadEvent.Step) { present?.report(step()) }

  func report(_ step: LoadEvent.Step) {
    let event = LoadEvent(load: load, item: item, time: clock.now, step: step)
    for observer in observers { observer.observe(event) }
  }
}

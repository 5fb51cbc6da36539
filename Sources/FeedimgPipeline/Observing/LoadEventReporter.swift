import FeedimgModel
import FeedimgSystem
import Synchronization

/// Reports the steps of one load to its observers.
///
/// The value travels with the load's task and the tasks that it starts, so that no function has to pass it
/// on.
struct LoadEventReporter: Sendable {
  @TaskLocal private static var current: LoadEventReporter?

  private static let lastLoad = Atomic(0)

  private let load: Int
  private let item: FeedItem
  private let observers: [any LoadObserving]
  private let clock = ContinuousClock()

  /// The reporter for the load of the calling task; nil without observers.
  static var present: LoadEventReporter? { current }

  /// Performs a load with a reporter, and reports its result.
  static func attend(
    _ item: FeedItem,
    _ observers: [any LoadObserving],
    _ load: () async throws(LoadError) -> LoadedImage
  ) async throws(LoadError) -> LoadedImage {
    guard !observers.isEmpty else { return try await load() }
    let number = lastLoad.wrappingAdd(1, ordering: .relaxed).newValue
    let reporter = LoadEventReporter(load: number, item: item, observers: observers)
    let result = await $current.withValue(reporter) { await Result.of(load) }
    switch result {
    case .success(let image): reporter.report(.finished(image.source))
    case .failure(let error): reporter.report(error.code == .cancelled ? .cancelled : .failed(error))
    }
    return try result.get()
  }

  /// Reports a step of the calling task's load to its observers, if any.
  static func report(_ step: @autoclosure () -> LoadEvent.Step) { current?.report(step()) }

  func report(_ step: LoadEvent.Step) {
    let event = LoadEvent(load: load, item: item, time: clock.now, step: step)
    for observer in observers { observer.observe(event) }
  }
}

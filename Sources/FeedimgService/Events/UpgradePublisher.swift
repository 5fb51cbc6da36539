import Feedimg
import FeedimgAdmin
import FeedimgJSON
import FeedimgModel
import Synchronization

/// Publishes an event when a better image than a client got becomes available, once for each item.
final class UpgradePublisher: Sendable {
  private struct State {
    var items = ShownItems()
    var isStarted = false
    /// Whether a second check is scheduled.
    var isCheckDue = false
  }

  /// The delay of the second check after a decision.
  ///
  /// A decision may rest on a network that was present only briefly. Such a network causes no event, and every other change
  /// of the network is reported within this time.
  static let checkDelay = Duration.milliseconds(1500)

  private let loader: ImageLoader
  private let hub: EventHub
  private let schedule: ProgressPublisher.Schedule
  private let state = Mutex(State())

  init(_ loader: ImageLoader, _ hub: EventHub, schedule: @escaping ProgressPublisher.Schedule) {
    (self.loader, self.hub, self.schedule) = (loader, hub, schedule)
  }

  /// Starts to check decisions a second time.
  func start() { state.withLock { $0.isStarted = true } }

  /// Records the image that a client shows now, unless a loader with overrides decided.
  ///
  /// A fallback, which replaces an original that failed, causes no second check. The check would report the
  /// original as due, the client would request it, and the next fallback would cause the next check.
  func note(
    _ image: ShownImage,
    of item: FeedItem,
    in situation: Situation,
    isFallback: Bool = false,
    by decider: ImageLoader
  ) {
    guard decider === loader else { return }
    let isFirst = state.withLock { state in
      let hasBetter = state.items.note(image, of: item, in: situation)
      guard hasBetter, state.isStarted, !isFallback else { return false }
      defer { state.isCheckDue = true }
      return !state.isCheckDue
    }
    guard isFirst else { return }
    schedule(Self.checkDelay) { [weak self] in
      guard let self else { return }
      state.withLock { $0.isCheckDue = false }
      // Away from the thread of the timer, as the check may wait for the disk.
      Task(executorPreference: TaskThread.executor) { self.check() }
    }
  }

  /// Publishes the items for which the loader would choose a better image now.
  func check() {
    let items = state.withLock { $0.items.all }
    for (item, resolution) in zip(items, items.isEmpty ? [] : loader.upgrades(of: items)) {
      guard let resolution, state.withLock({ $0.items.forget(item) }) else { continue }
      let event = resolution.jsonValue.adding(["shown": .string(item.image.rawValue)])
      hub.publish("upgrade", event.text(.compact), isState: false)
    }
  }
}

/// The items of which clients show less than the best image (pure).
struct ShownItems: Sendable {
  /// The number of items to keep; the oldest are removed first.
  static let maximumCount = 512

  private var entries: [String: (item: ShownItem, number: Int)] = [:]
  private var lastNumber = 0

  /// All items, the oldest first.
  var all: [ShownItem] { entries.values.sorted { $0.number < $1.number }.map(\.item) }

  /// Records the image that a client shows of an item; returns whether the item has a better one.
  @discardableResult
  mutating func note(_ image: ShownImage, of item: FeedItem, in situation: Situation) -> Bool {
    guard let key = item.key else { return false }
    let best: ShownImage = item.original == nil ? .thumbnail : .original
    guard image != best else {
      entries[key] = nil
      return false
    }
    lastNumber += 1
    entries[key] = (ShownItem(item, image, in: situation), lastNumber)
    guard entries.count > Self.maximumCount else { return true }
    if let oldest = entries.min(by: { $0.value.number < $1.value.number })?.key { entries[oldest] = nil }
    return true
  }

  /// Removes an item; false if it was removed before, or if the client has another image by now.
  mutating func forget(_ item: ShownItem) -> Bool {
    guard let key = item.item.key, entries[key]?.item == item else { return false }
    entries[key] = nil
    return true
  }
}

extension FeedItem {
  /// The identity of an item: its best URL.
  fileprivate var key: String? { (original ?? thumbnail)?.url.key }
}

import Feedimg
import FeedimgJSON
import FeedimgModel
import Synchronization

/// Publishes the progress of transfers, at most four times a second.
final class ProgressPublisher: Sendable {
  /// Runs a closure after a delay, on another thread.
  typealias Schedule = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

  private struct State {
    /// Whether the next event is scheduled.
    var isDue = false
    /// Whether something has changed since the last event.
    var isStale = false
    var isEnded = false
    /// The latest event.
    var text = ""
  }

  private let register: TransferRegistry
  private let hub: EventHub
  private let schedule: Schedule
  private let state = Mutex(State())

  /// The least time between two events.
  static let interval = Duration.milliseconds(250)
  /// The number of transfers that an event lists; it counts all of them.
  static let maximumCount = 32

  init(_ register: TransferRegistry, _ hub: EventHub, schedule: @escaping Schedule) {
    (self.register, self.hub, self.schedule) = (register, hub, schedule)
  }

  /// Publishes the current transfers and each change.
  func start() {
    register.listen { [weak self] in self?.note() }
    note()
  }

  /// Stops publishing.
  func end() {
    register.listen(nil)
    state.withLock { $0.isEnded = true }
  }

  private func note() {
    let isFirst = state.withLock { state in
      state.isStale = true
      defer { state.isDue = true }
      return !state.isDue && !state.isEnded
    }
    // Away from the threads of the transfers.
    if isFirst { schedule(.zero) { [weak self] in self?.publish() } }
  }

  private func publish() {
    let text = Self.text(register.present)
    // A transfer does not report every chunk. The look after its latest report finds the bytes before a pause.
    let isNews = state.withLock { state in
      defer { (state.isStale, state.text) = (false, text) }
      state.isDue = (state.isStale || state.text != text) && !state.isEnded
      return state.isDue
    }
    guard isNews else { return }
    hub.publish("progress", text)
    schedule(Self.interval) { [weak self] in self?.publish() }
  }

  /// The data of an event: the most urgent transfers first, then the oldest.
  static func text(_ transfers: [TransferRegistry.Transfer]) -> String {
    let ordered = LoadPriority.allCases.reversed().flatMap { priority in
      transfers.filter { $0.priority == priority }
    }
    let listed = ordered.prefix(maximumCount).map { transfer -> JSONValue in
      [
        "url": .string(transfer.url.description),
        "image": (transfer.role?.rawValue).map { .string($0) } ?? .null,
        "priority": .string("\(transfer.priority)"),
        "received": .integer(transfer.progress?.received.bytes ?? 0),
        "total": (transfer.progress?.total ?? transfer.announced).map { .integer($0.bytes) } ?? .null,
      ]
    }
    let value: JSONValue = ["count": .integer(transfers.count), "transfers": .array(listed)]
    return value.text(.compact)
  }
}

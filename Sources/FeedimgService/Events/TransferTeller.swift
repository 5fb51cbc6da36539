import Feedimg
import FeedimgJSON
import FeedimgModel
import Synchronization

/// Tells of the transfers that are under way, at a pace that readers can follow.
final class TransferTeller: Sendable {
  /// Does something later, on another thread.
  typealias Later = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

  private struct State {
    /// Whether the next telling is on its way.
    var isDue = false
    var isStale = false
    var isEnded = false
    /// The latest event.
    var text = ""
  }

  private let register: TransferRegister
  private let later: Later
  private let state = Mutex(State())

  /// At most so often.
  static let pace = Duration.milliseconds(250)
  /// Of more transfers only the number is told.
  static let greatestCount = 32

  init(_ register: TransferRegister, later: @escaping Later) {
    self.register = register
    self.later = later
  }

  /// Begins to tell.
  func start(telling hub: EventHub) {
    register.listen { [weak self, weak hub] in if let hub { self?.note(hub) } }
    note(hub)
  }

  /// Tells no more.
  func end() {
    register.listen(nil)
    state.withLock { $0.isEnded = true }
  }

  private func note(_ hub: EventHub) {
    let isFirst = state.withLock { state in
      state.isStale = true
      defer { state.isDue = true }
      return !state.isDue && !state.isEnded
    }
    // The threads of the transfers have better things to do.
    if isFirst { later(.zero) { [weak self] in self?.tell(hub) } }
  }

  private func tell(_ hub: EventHub) {
    let text = Self.text(register.present)
    // A transfer does not report every chunk. The look after its latest report finds the bytes before a pause.
    let isNews = state.withLock { state in
      defer { (state.isStale, state.text) = (false, text) }
      state.isDue = (state.isStale || state.text != text) && !state.isEnded
      return state.isDue
    }
    guard isNews else { return }
    hub.publish("progress", text, as: .latest)
    later(Self.pace) { [weak self] in self?.tell(hub) }
  }

  /// The most urgent transfers in front, and then those that began first.
  static func text(_ transfers: [TransferRegister.Transfer]) -> String {
    let ordered = LoadPriority.allCases.reversed().flatMap { priority in
      transfers.filter { $0.priority == priority }
    }
    let listed = ordered.prefix(greatestCount).map { transfer -> JSONValue in
      [
        "url": .string(transfer.url.description),
        "image": (transfer.role?.rawValue).map { .string($0) } ?? .null,
        "priority": .string(transfer.priority.name),
        "received": .integer(transfer.progress?.received.bytes ?? 0),
        "total": (transfer.progress?.total ?? transfer.announced).map { .integer($0.bytes) } ?? .null,
      ]
    }
    let value: JSONValue = ["count": .integer(transfers.count), "transfers": .array(listed)]
    return value.text(.compact)
  }
}

extension LoadPriority {
  fileprivate var name: String {
    switch self {
    case .visible: "visible"
    case .near: "near"
    case .prefetch: "prefetch"
    }
  }
}

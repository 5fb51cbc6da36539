import Feedimg
import FeedimgJSON
import FeedimgModel
import Synchronization

/// Tells when something better can be had than clients were given, once for each image.
final class UpgradeWatch: Sendable {
  private struct State {
    var items = ShownItems()
    /// Looks once more, later; nil while nobody reads.
    var lookLater: (@Sendable () -> Void)?
    /// Whether that is on its way.
    var isDue = false
  }

  /// What was decided over a network that was there for a moment is decided anew after so long: no change of the network
  /// is held back for longer, and of one that is over before nobody is told.
  static let secondLook = Duration.milliseconds(1500)

  private let loader: ImageLoader
  private let state = Mutex(State())

  init(_ loader: ImageLoader) { self.loader = loader }

  /// Begins to tell; called once.
  func start(telling hub: EventHub, later: @escaping TransferTeller.Later) {
    state.withLock { state in
      state.lookLater = { [weak self, weak hub] in
        later(Self.secondLook) { [weak self, weak hub] in if let hub { self?.lookAgain(telling: hub) } }
      }
    }
  }

  private func lookAgain(telling hub: EventHub) {
    state.withLock { $0.isDue = false }
    // Away from the thread that tells the time, as it may wait for the disk.
    Task { reconsider(telling: hub) }
  }

  /// Takes note of what a client was given.
  ///
  /// - Parameters:
  ///   - image: What it has now.
  ///   - item: Of what.
  ///   - situation: What was decided in.
  ///   - decider: Who decided; what was asked for in another situation than the present one does not count.
  func note(_ image: ShownImage, of item: FeedItem, in situation: Situation, by decider: ImageLoader) {
    guard decider === loader else { return }
    let lookLater = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.items.note(image, of: item, in: situation), !state.isDue else { return nil }
      state.isDue = state.lookLater != nil
      return state.lookLater
    }
    lookLater?()
  }

  /// Looks, as something has changed, whether there is anything better now.
  func reconsider(telling hub: EventHub) {
    let items = state.withLock { $0.items.all }
    for (item, resolution) in zip(items, items.isEmpty ? [] : loader.upgrades(of: items)) {
      guard let resolution, state.withLock({ $0.items.forget(item) }) else { continue }
      hub.publish("upgrade", Self.text(item, resolution), as: .occurrence)
    }
  }

  private static func text(_ item: ShownItem, _ resolution: Resolution) -> String {
    guard case .object(var object) = resolution.jsonValue else { return "{}" }
    object["shown"] = .string(item.image.rawValue)
    return JSONValue.object(object).text(.compact)
  }
}

/// The items of which clients have less than there is (pure).
struct ShownItems: Sendable {
  private struct Entry {
    var item: ShownItem
    var number: Int
  }

  /// The oldest give way to more.
  static let greatestCount = 512

  private var entries: [String: Entry] = [:]
  private var issued = 0

  /// All of them, the oldest first.
  var all: [ShownItem] { entries.values.sorted { $0.number < $1.number }.map(\.item) }

  /// Takes note of what a client has now of an item.
  ///
  /// - Returns: Whether there is something better to wait for.
  @discardableResult
  mutating func note(_ image: ShownImage, of item: FeedItem, in situation: Situation) -> Bool {
    guard let key = item.key else { return false }
    let best: ShownImage = item.original == nil ? .thumbnail : .original
    guard image != best else {
      entries[key] = nil
      return false
    }
    issued += 1
    let shown = ShownItem(item, image, in: situation)
    entries[key] = Entry(item: shown, number: issued)
    guard entries.count > Self.greatestCount else { return true }
    if let oldest = entries.min(by: { $0.value.number < $1.value.number })?.key { entries[oldest] = nil }
    return true
  }

  /// Forgets an item; false where that was done before, or the client has something else by now.
  mutating func forget(_ item: ShownItem) -> Bool {
    guard let key = item.item.key, entries[key]?.item == item else { return false }
    entries[key] = nil
    return true
  }
}

extension FeedItem {
  /// What tells items apart.
  fileprivate var key: String? { (original ?? thumbnail)?.url.key }
}

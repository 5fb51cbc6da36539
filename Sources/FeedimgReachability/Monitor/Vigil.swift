import CNetlink
import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization

/// One run of the thread that watches the network: from the first listener to the last.
///
/// Only this thread tells the listeners anything, so that each hears the same in the same order.
final class Vigil: Sendable {
  /// How often to look where the system tells of changes, in case it once does not.
  static let safetyPeriod = Duration.seconds(60)
  /// How often to look where it does not.
  static let usualPolling = Duration.seconds(5)

  private let reader: NetlinkReader
  private let prompt: (@Sendable () -> Prompt?)?
  private let polling: Duration
  private let audience = Mutex(Audience())
  private let bell: Bell
  private let isAskedToLook = Atomic(false)
  private let noteOverrun: @Sendable () -> Void
  private let start = SuspendingClock.now

  /// Nil where the process has no descriptor left.
  ///
  /// - Parameters:
  ///   - reader: What looks at the network.
  ///   - prompt: Opens what else tells that it is worth a look.
  ///   - polling: How often to look where the system does not tell of all changes.
  ///   - noteOverrun: Called each time that more events came than the system could hold.
  init?(
    reader: NetlinkReader,
    prompt: (@Sendable () -> Prompt?)?,
    polling: Duration,
    noteOverrun: @escaping @Sendable () -> Void
  ) {
    guard let bell = Bell() else { return nil }
    self.bell = bell
    self.reader = reader
    self.prompt = prompt
    self.polling = polling
    self.noteOverrun = noteOverrun
  }

  /// Adds a listener, who hears nothing before the next ``hurry()``.
  ///
  /// - Returns: Nil where it was too late, since the last one had left.
  func admit(_ listener: Audience.Listener) -> Audience.Seat? {
    audience.withLock { $0.join(listener) }
  }

  /// Lets a listener go; the thread ends with the last.
  func dismiss(_ seat: Audience.Seat) {
    if audience.withLock({ $0.leave(seat) }) { bell.ring() }
  }

  /// Has the thread see to newcomers.
  func hurry() {
    bell.ring()
  }

  /// Has the network looked at now.
  func lookAgain() {
    isAskedToLook.store(true, ordering: .relaxed)
    bell.ring()
  }

  /// Starts the thread.
  ///
  /// - Returns: Whether the system could. If not, the listeners hear how things are, and no more.
  func begin() -> Bool {
    let isGranted = SystemThread.start("feedimg-netlink") { self.keep() }
    if !isGranted { giveUp() }
    return isGranted
  }

  private func giveUp() {
    let state = reader.freshState()
    for listener in audience.withLock({ $0.everybody() }) {
      listener.tell(state)
      listener.end()
    }
  }

  private func keep() {
    // Events come from before the first look, so that no change falls between.
    let senses = Senses(bell: bell, prompt: prompt)
    var watch = NetworkWatch(period: senses.hearsAll ? Self.safetyPeriod : polling)
    while !audience.withLock({ $0.isOver }) {
      switch watch.step(at: now) {
      case .look:
        // It was told to look by what others may not have heard yet.
        let state = reader.freshState()
        watch.saw(state, at: now)
      case .drain:
        let drained = drain(senses)
        watch.drained(drained, at: now)
      case .publish(let state):
        for listener in audience.withLock({ $0.everybody() }) { listener.tell(state) }
      case .sleep(let until, let orEvent):
        greet(with: watch.published)
        senses.listen(to: reader.services)
        sleep(senses, until, orEvent: orEvent, &watch)
      }
    }
  }

  private func greet(with state: NetworkState?) {
    guard let state else { return }
    for listener in audience.withLock({ $0.thoseNotYetTold() }) { listener.tell(state) }
  }

  private func sleep(_ senses: Senses, _ until: Duration, orEvent: Bool, _ watch: inout NetworkWatch) {
    let noise = senses.wait(atMost: until - now, orEvent: orEvent)
    if noise.contains(.bell), isAskedToLook.exchange(false, ordering: .relaxed) { watch.woke(at: now) }
    if noise.contains(.resume) || noise.contains(.prompt) { watch.woke(at: now) }
    if noise.contains(.event) {
      let events = drain(senses)
      watch.heard(events, at: now)
    }
  }

  private func drain(_ senses: Senses) -> NetworkWatch.Events {
    let events = senses.drain()
    if events == .overrun { noteOverrun() }
    return events
  }

  /// The time as `poll` counts it, which stands still while the computer sleeps.
  private var now: Duration {
    start.duration(to: SuspendingClock.now)
  }
}

import Glibc

/// All that can wake the thread that watches the network.
final class Senses {
  /// What was heard.
  struct Noise: OptionSet {
    let rawValue: Int
    static let bell = Noise(rawValue: 1 << 0)
    static let event = Noise(rawValue: 1 << 1)
    static let resume = Noise(rawValue: 1 << 2)
    static let prompt = Noise(rawValue: 1 << 3)
  }

  private let bell: Bell
  private let ears = Ears(try? EventSocket())
  private let resume = ResumeTimer()
  private let prompt: Prompt?

  /// Whether the system tells of all changes that matter.
  let hearsAll: Bool

  init(bell: Bell, prompt open: (() -> Prompt?)?) {
    self.bell = bell
    prompt = open?()
    hearsAll = ears.events != nil && (open == nil || prompt != nil)
  }

  /// Hears services from now on, if it does not yet; that they agreed to tell is the first event.
  func listen(to services: NetworkServices) {
    ears.listen(to: services)
  }

  /// Sleeps until something happens or time is up.
  ///
  /// - Parameters:
  ///   - time: The longest sleep.
  ///   - orEvent: Whether a change of the network ends the sleep.
  /// - Returns: What happened; events are still there to be drained.
  func wait(atMost time: Duration, orEvent: Bool) -> Noise {
    // A negative descriptor is passed over.
    let descriptors = [
      bell.descriptor,
      orEvent ? ears.events?.descriptor ?? -1 : -1,
      orEvent ? ears.system?.descriptor ?? -1 : -1,
      orEvent ? ears.portal?.descriptor ?? -1 : -1,
      resume?.descriptor ?? -1,
      prompt?.descriptor ?? -1,
    ]
    var waits = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard poll(&waits, nfds_t(waits.count), Self.milliseconds(time)) > 0 else { return [] }
    var noise = Noise()
    if waits[0].revents != 0 {
      bell.silence()
      noise.insert(.bell)
    }
    if waits[1...3].contains(where: { $0.revents != 0 }) { noise.insert(.event) }
    if waits[4].revents != 0 {
      resume?.arm()
      noise.insert(.resume)
    }
    if waits[5].revents != 0, prompt?.takeChange() ?? false { noise.insert(.prompt) }
    return noise
  }

  /// Throws away the events that have come.
  func drain() -> NetworkWatch.Events { ears.drain() }

  /// Rounded up, so that the time has come when the sleep is over.
  private static func milliseconds(_ duration: Duration) -> Int32 {
    let milliseconds = duration / .milliseconds(1)
    return milliseconds < 0 ? 0 : Int32(min(milliseconds + 1, Double(Int32.max)))
  }
}

import Glibc
import Synchronization

/// All that tells that memory is short; used by the thread that watches for it.
final class MemorySenses {
  private let stalls: StallFile?
  private let groups: GroupEvents?
  private var count: Int
  private var isStallFileGone = false
  private let ear = Ear()

  /// Whether groups may end the sleep now.
  private final class Ear: Sendable {
    let isOpen = Atomic(false)
  }

  /// Whether anything can be heard.
  var isOpen: Bool { stalls != nil || groups != nil }

  /// - Parameters:
  ///   - place: Where the kernel tells of stalls.
  ///   - files: Where control groups tell of their limits.
  ///   - ring: Rings the bell that ends the sleep.
  init(_ place: StallFile.Place, _ files: SystemFiles, ring: @escaping @Sendable () -> Void) {
    stalls = try? StallFile(place)
    groups = MemoryGroups(files).flatMap { [ear] in
      GroupEvents($0, files: files) { if ear.isOpen.load(ordering: .acquiring) { ring() } }
    }
    count = groups?.count() ?? 0
  }

  /// Sleeps until there is a sign, the bell rings, or time is up.
  ///
  /// - Parameters:
  ///   - bell: A descriptor that ends the sleep when it can be read; what is in it is taken.
  ///   - time: The longest sleep; nil for no end.
  ///   - isListening: Whether signs end the sleep; if not, those that come are forgotten.
  /// - Returns: Whether there was a sign.
  func wait(for bell: Int32, atMost time: Duration?, isListening: Bool) -> Bool {
    // A negative descriptor is passed over.
    let stallDescriptor = isStallFileGone ? -1 : stalls?.descriptor ?? -1
    var waits = [
      pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isListening ? stallDescriptor : -1, events: stalls?.events ?? 0, revents: 0),
    ]
    ear.isOpen.store(isListening, ordering: .releasing)
    // What came before that rang no bell.
    let wasTold = isListening && hasNewEvents()
    poll(&waits, nfds_t(waits.count), wasTold ? 0 : Self.milliseconds(time))
    ear.isOpen.store(false, ordering: .releasing)
    var block = [UInt8](repeating: 0, count: 64)
    while read(bell, &block, block.count) > 0 {}
    guard isListening else {
      forget()
      return false
    }
    // The kernel's sign that the file has gone, such as with its group.
    if Int32(waits[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 {
      isStallFileGone = true
    } else if waits[1].revents != 0 {
      stalls?.drain()
      return true
    }
    return hasNewEvents() || wasTold
  }

  private func forget() {
    if let stalls, !isStallFileGone {
      var wait = pollfd(fd: stalls.descriptor, events: stalls.events, revents: 0)
      poll(&wait, 1, 0)
      stalls.drain()
    }
    _ = hasNewEvents()
  }

  /// The files change also for reasons that are none of ours, such as `low`.
  private func hasNewEvents() -> Bool {
    guard let groups, groups.haveChanged() else { return false }
    let before = count
    count = groups.count()
    return count > before
  }

  /// Rounded up, so that the time has come when the sleep is over.
  private static func milliseconds(_ duration: Duration?) -> Int32 {
    guard let duration else { return -1 }
    let milliseconds = duration / .milliseconds(1)
    return milliseconds < 0 ? 0 : Int32(min(milliseconds + 1, Double(Int32.max)))
  }
}

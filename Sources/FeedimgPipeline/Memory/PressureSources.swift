import FeedimgSystem
import Glibc

/// The sources that report a shortage of memory: the kernel's PSI file and control groups.
///
/// One thread uses it.
final class PressureSources {
  private let psi: PSIFile?
  private let groups: GroupEvents?
  private var count: Int
  private var isPSIGone = false

  /// Whether there is any source.
  var isOpen: Bool { psi != nil || groups != nil }

  /// Opens the sources.
  ///
  /// - Parameters:
  ///   - place: The PSI file.
  ///   - files: The files of the control groups.
  ///   - waker: Wakes the thread when a control group may have reached a limit.
  init(_ place: PSIFile.Place, _ files: SystemFiles, waker: Waker) {
    psi = try? PSIFile(place)
    groups = MemoryGroups(files).flatMap { GroupEvents($0, files: files) { waker.wake() } }
    count = groups?.count() ?? 0
  }

  /// Sleeps until there is a sign, the waker wakes, or the time ends.
  ///
  /// - Parameters:
  ///   - waker: Ends the sleep.
  ///   - time: The longest sleep; nil for no limit.
  ///   - isListening: Whether signs count; if not, they are dropped.
  /// - Returns: Whether there was a sign.
  func wait(for waker: Waker, atMost time: Duration?, isListening: Bool) -> Bool {
    // poll(2) ignores a negative descriptor.
    let descriptor = isListening && !isPSIGone ? psi?.descriptor ?? -1 : -1
    var waits = [
      pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: psi?.events ?? 0, revents: 0),
    ]
    poll(&waits, nfds_t(waits.count), Self.milliseconds(time))
    waker.clear()
    guard isListening else {
      dropSigns()
      return false
    }
    // The file was removed, for example with its group.
    if Int32(waits[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 {
      isPSIGone = true
    } else if waits[1].revents != 0 {
      psi?.drain()
      return true
    }
    return hasNewEvents()
  }

  private func dropSigns() {
    if let psi, !isPSIGone {
      var wait = pollfd(fd: psi.descriptor, events: psi.events, revents: 0)
      poll(&wait, 1, 0)
      psi.drain()
    }
    _ = hasNewEvents()
  }

  /// Returns whether events that count have occurred; other events, such as `low`, change the files too.
  private func hasNewEvents() -> Bool {
    guard let groups, groups.haveChanged() else { return false }
    let before = count
    count = groups.count()
    return count > before
  }

  /// Rounds up, so that the time has come when the sleep ends.
  private static func milliseconds(_ duration: Duration?) -> Int32 {
    guard let duration else { return -1 }
    let milliseconds = duration / .milliseconds(1)
    return milliseconds < 0 ? 0 : Int32(min(milliseconds + 1, Double(Int32.max)))
  }
}

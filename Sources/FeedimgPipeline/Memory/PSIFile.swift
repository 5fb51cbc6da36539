import FeedimgModel
import FeedimgSystem
import Glibc

/// A pressure-stall file, which reports when programs wait for memory.
///
/// The kernel's `Documentation/accounting/psi.rst` describes it.
package final class PSIFile: Sendable {
  /// The path, and the trigger to write first.
  package struct Place: Sendable, Hashable {
    package var path: String
    var trigger: [UInt8]

    /// The file of the whole system; it reports when a program waits for a tenth of two seconds.
    ///
    /// This is systemd's default. Without privileges, windows are multiples of two seconds. The kernel drops
    /// the last byte of the trigger.
    package static func system(_ files: SystemFiles) -> Place {
      Place(path: files.path("/proc/pressure/memory"), trigger: Array("some 200000 2000000\0".utf8))
    }

    /// The file that the service manager names in the environment (systemd.io/MEMORY_PRESSURE); nil if it
    /// names none.
    ///
    /// The path is empty if the service manager disables the reports.
    package init?(environment: [String: String]) {
      guard let path = environment["MEMORY_PRESSURE_WATCH"], !path.isEmpty else { return nil }
      self.path = path == "/dev/null" ? "" : path
      trigger = environment["MEMORY_PRESSURE_WRITE"].flatMap(Base64.decode) ?? []
    }

    init(path: String, trigger: [UInt8]) {
      self.path = path
      self.trigger = trigger
    }
  }

  let descriptor: Int32
  /// The events to poll(2) for.
  let events: Int16
  private let isPipe: Bool

  /// Opens the file and writes the trigger.
  ///
  /// - Parameter place: The path and the trigger.
  /// - Throws: The system's reason, in words.
  package init(_ place: Place) throws(SystemReason) {
    descriptor = open(place.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemReason() }
    var status = stat()
    isPipe = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    events = Int16(isPipe ? POLLIN : POLLPRI)
    // Do not write into a pipe, because its reader would read the trigger back.
    guard !isPipe, !place.trigger.isEmpty else { return }
    guard write(descriptor, place.trigger, place.trigger.count) == place.trigger.count else {
      throw SystemReason()
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Empties a pipe; poll(2) resets the file of the kernel.
  func drain() {
    guard isPipe else { return }
    var block = [UInt8](repeating: 0, count: 256)
    while read(descriptor, &block, block.count) > 0 {}
  }
}

/// The reason why the system refused a call.
package struct SystemReason: Error, Sendable, Hashable, CustomStringConvertible {
  let code: Int32

  init(_ code: Int32 = errno) { self.code = code }

  /// The reason in words, such as `permission denied`.
  package var description: String { FileFault.words(for: code) }
}

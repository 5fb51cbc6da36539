import FeedimgModel
package import FeedimgSystem
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
  }

  private let file: OpenFile
  /// The events to poll(2) for.
  let events: Int16
  private let isPipe: Bool

  /// Opens the file and writes the trigger.
  ///
  /// - Throws: ``FileFault`` with the system's reason.
  package init(_ place: Place) throws(FileFault) {
    file = try OpenFile(place.path, to: "open", O_RDWR | O_NONBLOCK)
    isPipe = try file.status().st_mode & S_IFMT == S_IFIFO
    events = Int16(isPipe ? POLLIN : POLLPRI)
    // Do not write into a pipe, because its reader would read the trigger back.
    if !isPipe, !place.trigger.isEmpty { try file.write(place.trigger) }
  }

  var descriptor: Int32 { file.descriptor }

  /// Empties a pipe; poll(2) resets the file of the kernel.
  func drain() {
    guard isPipe else { return }
    var block = [UInt8](repeating: 0, count: 256)
    while read(descriptor, &block, block.count) > 0 {}
  }
}

extension PSIFile.Place {
  /// The file that the service manager names in the environment (systemd.io/MEMORY_PRESSURE); nil if it
  /// names none.
  ///
  /// The path is empty if the service manager disables the reports.
  package init?(environment: [String: String]) {
    guard let path = environment["MEMORY_PRESSURE_WATCH"], !path.isEmpty else { return nil }
    self.path = path == "/dev/null" ? "" : path
    trigger = environment["MEMORY_PRESSURE_WRITE"].flatMap(Base64.decode) ?? []
  }
}

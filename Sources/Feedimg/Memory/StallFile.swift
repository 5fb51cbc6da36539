import FeedimgModel
import Glibc

/// A file that tells when programs wait for memory (the kernel's `Documentation/accounting/psi.rst`).
package final class StallFile: Sendable {
  /// Which file, and what to write to it first.
  package struct Place: Sendable, Hashable {
    package var path: String
    var trigger: [UInt8]

    /// The whole system: some program waits for a tenth of two seconds.
    ///
    /// As systemd asks by default. Without privileges, windows are multiples of two seconds. The kernel drops the
    /// last byte of what is written.
    package static func system(_ files: SystemFiles) -> Place {
      Place(path: files.path("/proc/pressure/memory"), trigger: Array("some 200000 2000000\0".utf8))
    }

    /// What the service manager names in the environment (systemd.io/MEMORY_PRESSURE); nil where it does not.
    ///
    /// - Returns: A place without a path where it asks not to listen at all.
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
  /// What `poll` waits for.
  let events: Int16
  private let isPipe: Bool

  /// - Throws: The system's reason, in words.
  package init(_ place: Place) throws(SystemReason) {
    descriptor = open(place.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemReason() }
    var status = stat()
    isPipe = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    events = Int16(isPipe ? POLLIN : POLLPRI)
    // A pipe would only give it back.
    guard !isPipe, !place.trigger.isEmpty else { return }
    guard write(descriptor, place.trigger, place.trigger.count) == place.trigger.count else {
      throw SystemReason()
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Takes in what a pipe has told; the kernel's own file forgets by being asked.
  func drain() {
    guard isPipe else { return }
    var block = [UInt8](repeating: 0, count: 256)
    while read(descriptor, &block, block.count) > 0 {}
  }
}

/// Why the system refused something.
package struct SystemReason: Error, Sendable, Hashable, CustomStringConvertible {
  let code: Int32

  init(_ code: Int32 = errno) { self.code = code }

  /// In words, such as `permission denied`.
  package var description: String {
    let words = String(cString: strerror(code))
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}

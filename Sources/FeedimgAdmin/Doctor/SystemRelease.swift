import FeedimgSystem
import Glibc

/// The versions of the kernel and the distribution.
enum SystemRelease {
  /// One line for the kernel and, if known, one for the distribution.
  static func lines() -> [String] {
    var name = utsname()
    var lines: [String] = []
    if uname(&name) == 0 {
      lines.append("kernel: \(text(name.sysname)) \(text(name.release)) \(text(name.machine))")
    }
    if let distribution = distribution() { lines.append("system: \(distribution)") }
    return lines
  }

  /// `PRETTY_NAME` of os-release(5).
  private static func distribution() -> String? {
    guard let bytes = try? AtomicFile("/etc/os-release").content() else { return nil }
    let line = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
    return line.map { $0.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" } }
  }

  private static func text<Field>(_ field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

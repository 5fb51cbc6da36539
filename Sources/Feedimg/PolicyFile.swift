import FeedimgPolicies
import FeedimgPolicy
import Glibc

/// The table that a loader decides by, read and checked.
struct PolicyFile {
  private let policy: ImageLoader.Configuration.Policy

  /// Longer files are no policies; in bytes.
  private static let greatestLength = 16 << 20

  init(_ policy: ImageLoader.Configuration.Policy) { self.policy = policy }

  /// - Throws: ``ConfigurationError`` with every fault of the table.
  func compiled() throws(ConfigurationError) -> CompiledPolicy {
    do throws(PolicyErrors) {
      switch policy {
      case .standard:
        return try CompiledPolicy(
          PolicyTable(name: "default", fileName: "default.md", markdown: ShippedPolicies.defaultTable)
        )
      case .named(let name):
        if let shipped = ShippedPolicies.all.first(where: { $0.name == name }) {
          return try CompiledPolicy(
            PolicyTable(name: name, fileName: shipped.fileName, markdown: shipped.text)
          )
        }
        return try CompiledPolicy(
          PolicyTable(name: Self.stem(of: name), fileName: name, markdown: try content(of: name))
        )
      }
    } catch {
      throw ConfigurationError(error.errors.map(\.description))
    }
  }

  private static func stem(of path: String) -> String {
    let name = path.split(separator: "/").last ?? "policy"
    return String(name.hasSuffix(".md") ? name.dropLast(3) : name)
  }

  private func content(of path: String) throws(PolicyErrors) -> [UInt8] {
    func failure(_ code: Int32) -> PolicyErrors {
      let reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
      return PolicyErrors(
        PolicyError(file: path, "cannot be read: \(reason.prefix(1).lowercased())\(reason.dropFirst())")
      )
    }
    guard let file = fopen(path, "re") else { throw failure(errno) }
    defer { fclose(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while content.count <= Self.greatestLength {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { break }
      content += chunk[..<count]
    }
    guard ferror(file) == 0 else { throw failure(errno) }
    return content
  }
}

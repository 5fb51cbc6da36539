import FoundationEssentials
import Synchronization

/// A folder of one test, removed with it.
final class TestFolder: Sendable {
  let root: String
  private let number = Atomic(0)

  init() throws {
    root = FileManager.default.temporaryDirectory.path + "/feedimg-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  func path(_ name: String) -> String { "\(root)/\(name)" }

  func nextNumber() -> Int { number.add(1, ordering: .relaxed).newValue }

  /// Writes a file and returns its path.
  @discardableResult func write(_ name: String, _ content: some Collection<UInt8>) throws -> String {
    let path = path(name)
    let folder = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
    try FileManager.default.createDirectory(atPath: String(folder), withIntermediateDirectories: true)
    try Data(content).write(to: URL(filePath: path))
    return path
  }

  @discardableResult func write(_ name: String, _ text: String) throws -> String {
    try write(name, text.utf8)
  }

  static func bytes(of path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

  static func text(of path: String) throws -> String { String(decoding: try bytes(of: path), as: UTF8.self) }

  /// The paths of all files below a folder, relative to it.
  func files(below name: String) -> [String] {
    let found = (try? FileManager.default.subpathsOfDirectory(atPath: path(name))) ?? []
    return found.filter {
      !((try? FileManager.default.contentsOfDirectory(atPath: path("\(name)/\($0)"))) != nil)
    }
    .sorted()
  }
}

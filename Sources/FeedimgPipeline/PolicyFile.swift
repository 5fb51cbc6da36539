import FeedimgSystem
import Glibc

/// A file that holds a policy or its test cases.
package struct PolicyFile: Sendable, Hashable {
  /// The path, as messages print it.
  package let path: String

  /// The longest policy that is read, in bytes.
  private static let maximumLength = 16 << 20

  package init(path: String) { self.path = path }

  var stamp: FileStamp { FileStamp(path: path) }

  /// Whether the path exists; true if the system does not tell.
  package var exists: Bool { stamp != .missing }

  /// Reads the content; a pipe is read to its end.
  ///
  /// - Returns: The bytes of the file.
  /// - Throws: ``PolicyFault``, unreadable, with the system's reason.
  func content() throws(PolicyFault) -> [UInt8] {
    guard let file = fopen(path, "re") else { throw failure(errno) }
    defer { fclose(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while content.count <= Self.maximumLength {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { break }
      content += chunk[..<count]
    }
    guard ferror(file) == 0 else { throw failure(errno) }
    guard content.count <= Self.maximumLength else {
      throw PolicyFault(["\(path): longer than \(Self.maximumLength >> 20) MiB"], isUnreadable: true)
    }
    return content
  }

  /// The name of the policy: the last part of the path without its endings.
  package var name: String {
    let last = path.split(separator: "/").last ?? "policy"
    let ending = Self.endings.first { last.hasSuffix($0) && last.count > $0.count }
    return String(last.dropLast(ending?.count ?? 0))
  }

  /// Whether the path is a folder.
  package var isFolder: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether the name is that of a file with test cases.
  package var holdsCases: Bool { Self.caseEndings.contains { path.hasSuffix($0) } }

  /// Whether the name is that of a file with a policy.
  package var holdsPolicy: Bool {
    let last = path.split(separator: "/").last ?? ""
    return Self.policyEndings.contains { last.hasSuffix($0) } && !holdsCases && last != "README.md"
      && !last.hasSuffix(".schema.json") && !last.hasPrefix(".")
  }

  package static let caseEndings = [".tests.md", ".golden.md"]
  package static let policyEndings = [".md", ".json"]
  private static let endings = caseEndings + policyEndings

  /// Returns the files of a folder, by name.
  ///
  /// - Parameter folder: The path of the folder.
  /// - Returns: All entries except `.` and `..`.
  /// - Throws: ``PolicyFault``, unreadable, with the system's reason.
  package static func files(in folder: String) throws(PolicyFault) -> [PolicyFile] {
    do throws(FileFault) {
      return try FilePath.names(in: folder).sorted().map { PolicyFile(folder: folder, name: $0) }
    } catch {
      throw PolicyFile(path: folder).failure(error.reason)
    }
  }

  /// The content, or the reason why it cannot be read.
  package var reading: PolicyReading {
    do throws(PolicyFault) {
      return .bytes(try content())
    } catch {
      return .fault(error)
    }
  }

  private func failure(_ code: Int32) -> PolicyFault {
    let reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
    let text = "\(path): cannot be read: \(reason.prefix(1).lowercased())\(reason.dropFirst())"
    return PolicyFault([text], isUnreadable: true)
  }
}

extension PolicyFile {
  init(folder: String, name: String) {
    path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }
}

/// The content of one source of a policy at one time.
package enum PolicyReading: Sendable, Hashable {
  case nothing
  case bytes([UInt8])
  case fault(PolicyFault)

  /// Returns the text.
  ///
  /// - Returns: The bytes of the text.
  /// - Throws: ``PolicyFault`` if there is no text.
  package func text() throws(PolicyFault) -> [UInt8] {
    switch self {
    case .nothing: throw PolicyFault(["no policy was found"], isUnreadable: true)
    case .bytes(let bytes): return bytes
    case .fault(let fault): throw fault
    }
  }
}

/// The reasons why a policy or a table of test cases is unusable.
public struct PolicyFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line for each fault, with the place and the expected value.
  public var messages: [String]
  /// Whether nothing could be read, or the argument was not understood.
  ///
  /// Otherwise the text was read and contains errors.
  public var isUnreadable: Bool

  package init(_ messages: [String], isUnreadable: Bool = false) {
    self.messages = messages
    self.isUnreadable = isUnreadable
  }

  /// The messages, one line each.
  public var description: String { messages.joined(separator: "\n") }
}

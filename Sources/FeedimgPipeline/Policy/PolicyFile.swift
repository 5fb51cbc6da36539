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
  /// - Returns: All entries except `.` and `..`.
  /// - Throws: ``PolicyFileError``, unreadable, with the system's reason.
  package static func files(in folder: String) throws(PolicyFileError) -> [PolicyFile] {
    do throws(FileError) {
      return try FilePath.names(in: folder).sorted().map { PolicyFile(folder: folder, name: $0) }
    } catch {
      throw PolicyFile(path: folder).failure(error)
    }
  }

  /// The content, or the reason why it cannot be read; a pipe is read to its end.
  package var reading: PolicyReading {
    do throws(FileError) {
      let content = try OpenFile(path, to: "read", O_RDONLY).read(upTo: Self.maximumLength)
      guard content.count > Self.maximumLength else { return .bytes(content) }
      let text = "\(path): longer than \(Self.maximumLength >> 20) MiB"
      return .fault(PolicyFileError([text], isUnreadable: true))
    } catch {
      return .fault(failure(error))
    }
  }

  private func failure(_ fault: FileError) -> PolicyFileError {
    let reason = FileError.words(for: fault.reason)
    return PolicyFileError(["\(path): cannot be read: \(reason)"], isUnreadable: true)
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
  case fault(PolicyFileError)

  /// Returns the text.
  ///
  /// - Throws: ``PolicyFileError`` if there is no text.
  package func text() throws(PolicyFileError) -> [UInt8] {
    switch self {
    case .nothing: throw PolicyFileError(["no policy was found"], isUnreadable: true)
    case .bytes(let bytes): return bytes
    case .fault(let fault): throw fault
    }
  }
}

/// The reasons why a policy or a table of test cases is unusable.
public struct PolicyFileError: Error, Sendable, Hashable, CustomStringConvertible {
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

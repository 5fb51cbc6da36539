import FeedimgSystem
import Glibc

/// A file that holds a policy, or cases of one.
struct PolicyFile: Sendable, Hashable {
  /// As places in messages begin with it.
  let path: String

  /// Longer files are no policies; in bytes.
  private static let greatestLength = 16 << 20

  var stamp: FileStamp { FileStamp(path: path) }

  /// The content; a pipe is read to its end.
  ///
  /// - Throws: ``PolicyFault``, unreadable, with the system's reason.
  func content() throws(PolicyFault) -> [UInt8] {
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
    guard content.count <= Self.greatestLength else {
      throw PolicyFault(["\(path): longer than \(Self.greatestLength >> 20) MiB"], isUnreadable: true)
    }
    return content
  }

  /// The name of the policy that a file holds, or has cases of: the last part of its path without the endings.
  var name: String {
    let last = path.split(separator: "/").last ?? "policy"
    let ending = Self.endings.first { last.hasSuffix($0) && last.count > $0.count }
    return String(last.dropLast(ending?.count ?? 0))
  }

  /// Whether there is a folder of that path.
  var isFolder: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether the file holds cases, by its name.
  var holdsCases: Bool { Self.caseEndings.contains { path.hasSuffix($0) } }

  /// Whether the file holds a policy, by its name.
  var holdsPolicy: Bool {
    let last = path.split(separator: "/").last ?? ""
    return Self.policyEndings.contains { last.hasSuffix($0) } && !holdsCases && last != "README.md"
      && !last.hasSuffix(".schema.json") && !last.hasPrefix(".")
  }

  static let caseEndings = [".tests.md", ".golden.md"]
  static let policyEndings = [".md", ".json"]
  private static let endings = caseEndings + policyEndings

  /// The files of a folder, by name.
  ///
  /// - Throws: ``PolicyFault``, unreadable, with the system's reason.
  static func files(in folder: String) throws(PolicyFault) -> [PolicyFile] {
    guard let directory = opendir(folder) else { throw PolicyFile(path: folder).failure(errno) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
      )
    }
    return names.filter { $0 != "." && $0 != ".." }.sorted().map { PolicyFile(folder: folder, name: $0) }
  }

  /// The content, or why there is none.
  var reading: PolicyReading {
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

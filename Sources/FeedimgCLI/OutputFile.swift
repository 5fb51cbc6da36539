import FeedimgSystem
import Glibc

/// A file that is written completely or not at all; `-` is standard output.
struct OutputFile {
  let path: String
  /// The option for messages.
  var option = "--output"

  /// Checks, before any work, that the file can be written.
  ///
  /// - Throws: ``CommandError`` with status 2 for a wrong path, and with status 1 if the system fails.
  func check() throws(CommandError) {
    guard path != "-" else { return }
    guard !path.isEmpty else {
      throw CommandError(.usage, "\(option): expected a file, found an empty path")
    }
    let type = try type(of: path)
    if type == S_IFDIR {
      throw CommandError(.usage, "\(option) \(path): expected a file, found a folder")
    }
    // A special file is written in place; a regular file is replaced, which needs access to its folder.
    let isSpecial = type != nil && type != S_IFREG
    guard try self.type(of: folder) == S_IFDIR else {
      throw CommandError(.usage, "\(option) \(path): the folder `\(folder)` does not exist")
    }
    guard access(isSpecial ? path : folder, W_OK) == 0 else { throw failure(errno) }
  }

  /// Refuses to write binary data to a terminal.
  ///
  /// - Throws: ``CommandError`` with status 2.
  func refuseTerminal(unless isForced: Bool) throws(CommandError) {
    guard path == "-", !isForced, isatty(STDOUT_FILENO) == 1 else { return }
    throw CommandError(
      .usage,
      "\(option) -: binary data can garble a terminal; redirect standard output, or add --force"
    )
  }

  /// Writes the bytes; keeps the mode of an existing file, and keeps a symbolic link.
  ///
  /// - Throws: ``CommandError`` with status 1, or 2 for a wrong path; an existing file is then unchanged.
  func write(_ bytes: [UInt8]) throws(CommandError) {
    guard path != "-" else {
      if let code = Output.write(bytes, to: STDOUT_FILENO) { throw failure(code) }
      return
    }
    // Devices, pipes and the files behind /dev and /proc cannot be replaced, so write to them in place.
    let type = try type(of: path)
    let target = Self.resolved(path) ?? path
    if type != nil,
      type != S_IFREG || target.hasPrefix("/proc/") || path.hasPrefix("/dev/") || path.hasPrefix("/proc/")
    {
      return try write(bytes, to: path, O_WRONLY | O_TRUNC, isDurable: false)
    }
    let part = "\(target).\(getpid()).part"
    do throws(CommandError) {
      var earlier = stat()
      let mode = stat(target, &earlier) == 0 ? earlier.st_mode & 0o777 : 0o666
      try write(bytes, to: part, O_WRONLY | O_CREAT | O_EXCL, mode: mode, isDurable: true)
      if type != nil { chmod(part, mode) }
      guard rename(part, target) == 0 else { throw failure(errno) }
    } catch {
      unlink(part)
      throw error
    }
  }

  private func write(
    _ bytes: [UInt8],
    to path: String,
    _ flags: Int32,
    mode: mode_t = 0,
    isDurable: Bool
  ) throws(CommandError) {
    let descriptor = open(path, flags | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw failure(errno) }
    var code = Output.write(bytes, to: descriptor)
    if code == nil, isDurable, fsync(descriptor) != 0 { code = errno }
    if close(descriptor) != 0 { code = code ?? errno }
    if let code { throw failure(code) }
  }

  private var folder: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The type of the file at the path; nil if there is none.
  private func type(of path: String) throws(CommandError) -> mode_t? {
    var status = stat()
    if stat(path, &status) == 0 { return status.st_mode & S_IFMT }
    guard errno == ENOENT || errno == ENOTDIR else { throw failure(errno) }
    return nil
  }

  /// The path without symbolic links; nil if there is no file.
  private static func resolved(_ path: String) -> String? {
    guard let text = realpath(path, nil) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }

  private func failure(_ code: Int32) -> CommandError {
    let isWrongPath = [EACCES, ELOOP, ENAMETOOLONG, EROFS].contains(code)
    return CommandError(
      isWrongPath ? .usage : .failure,
      "\(option) \(path): cannot write: \(FileError.words(for: code))"
    )
  }
}

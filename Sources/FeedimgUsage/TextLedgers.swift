import FeedimgModel
import Glibc

/// The ledgers of earlier versions: a text file for each month, such as `2026-11.txt`, with a line for each count.
///
/// Their counts move into the database once. Each file is renamed first, under the lock that an earlier version takes
/// to append. An earlier version that still runs then begins a new file, which the next start imports. The database
/// records the new name together with the counts, and no file ever has that name again.
struct TextLedgers: Sendable {
  let folder: String

  /// The counts of one file, and how many lines are no counts.
  struct Content: Equatable {
    var usage: [NetworkUsage] = []
    var unreadableCount = 0
  }

  /// More bytes of unreadable lines than this belong to another program's file.
  private static let maximumUnreadableLength = 1 << 20
  /// A longer file is no ledger; in bytes.
  private static let maximumLength = 64 << 20
  /// The end of the name of a renamed ledger.
  private static let ending = ".old"

  // MARK: Files

  /// Renames all ledgers, after which no process appends to them.
  ///
  /// - Parameter busyTimeout: How long to wait for other processes, in milliseconds.
  /// - Returns: The names of all renamed ledgers, also of those that an earlier process has renamed.
  /// - Throws: ``UsageFault`` for a ledger that cannot be read, which keeps its name.
  func claim(within busyTimeout: Int32) throws(UsageFault) -> [String] {
    for name in try names() where Self.isLedger(name) { try claim(name, within: busyTimeout) }
    return try names().filter(Self.isRenamed)
  }

  private func claim(_ name: String, within busyTimeout: Int32) throws(UsageFault) {
    let path = "\(folder)/\(name)"
    let file: LockedFile
    do throws(UsageFault) {
      file = try LockedFile(path, within: busyTimeout)
    } catch {
      // Another process was faster.
      guard error.isMissing else { throw error }
      return
    }
    guard file.isNamed(path) else { return }
    _ = try Self.content(of: file.descriptor, path)
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let unique = "\(name.dropLast(4)).\(now.tv_sec)-\(now.tv_nsec)-\(getpid())"
    guard rename(path, "\(folder)/\(unique)\(Self.ending)") == 0 else { throw UsageFault("rename", path) }
  }

  /// The content of a renamed ledger; nil if another process has imported and removed it.
  func content(of name: String) throws(UsageFault) -> Content? {
    let path = "\(folder)/\(name)"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw UsageFault("read", path) }
      return nil
    }
    defer { close(descriptor) }
    return try Self.content(of: descriptor, path)
  }

  /// Removes an imported ledger; the next start tries again where this fails.
  func remove(_ name: String) { unlink("\(folder)/\(name)") }

  /// Removes all ledgers, imported or not.
  func removeAll() throws(UsageFault) {
    for name in try names() {
      // An earlier version that was killed may have left a compacted ledger.
      let isLeftover = name.hasSuffix(".new") && Self.isLedger(String(name.dropLast(4)))
      guard Self.isLedger(name) || Self.isRenamed(name) || isLeftover else { continue }
      let path = "\(folder)/\(name)"
      guard unlink(path) == 0 || errno == ENOENT else { throw UsageFault("remove", path) }
    }
  }

  private static func isLedger(_ name: String) -> Bool {
    name.utf8.count == 11 && name.hasSuffix(".txt") && CalendarDay("\(name.dropLast(4))-01") != nil
  }

  private static func isRenamed(_ name: String) -> Bool {
    name.hasSuffix(ending) && CalendarDay("\(name.prefix(7))-01") != nil
  }

  /// The names of all files; none if there is no folder.
  private func names() throws(UsageFault) -> [String] {
    guard let folder = opendir(folder) else {
      guard errno == ENOENT else { throw UsageFault("read", self.folder) }
      return []
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      )
    }
    return names.sorted()
  }

  private static func content(of descriptor: Int32, _ path: String) throws(UsageFault) -> Content {
    var text: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw UsageFault("read", path) }
      guard count > 0 else { break }
      text += block[..<count]
      guard text.count <= maximumLength else { throw UsageFault("read", path, reason: EFBIG) }
    }
    guard let content = content(of: text) else { throw UsageFault("read", path, reason: EFBIG) }
    return content
  }

  // MARK: Lines

  /// Adds up the lines of a text; nil if it is the text of another program.
  ///
  /// Lines that begin with `#` are remarks. A last line without its end was torn, and its writer has written it again.
  static func content(of text: [UInt8]) -> Content? {
    var sums = UsageSums()
    var (count, length) = (0, 0)
    var rest = text[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n"))
      let line = rest[..<(end ?? rest.endIndex)]
      rest = rest[(end.map { $0 + 1 } ?? rest.endIndex)...]
      guard let first = line.first, first != UInt8(ascii: "#") else { continue }
      if end != nil, let usage = usage(of: line) {
        sums.add(usage)
      } else {
        count += 1
        length += line.count
      }
    }
    return length <= maximumUnreadableLength ? Content(usage: sums.usage(), unreadableCount: count) : nil
  }

  /// Reads a line such as `2026-11-21 cellular metered 12345 1`: day, network, price, bytes, transfers.
  ///
  /// - Returns: Nil for anything that is not exactly such a line.
  static func usage(of line: ArraySlice<UInt8>) -> NetworkUsage? {
    // The longest line has 77 bytes.
    guard line.count <= 80 else { return nil }
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 5, let day = CalendarDay(text(words[0])),
      let network = NetworkKind(rawValue: text(words[1])), network != .offline,
      let metered = Metered(price: text(words[2])), let received = number(words[3]),
      let transfers = number(words[4])
    else { return nil }
    return NetworkUsage(
      day: day,
      network: network,
      metered: metered,
      received: ByteCount(received),
      transfers: transfers
    )
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  /// A whole number without sign, or nil.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    digits.allSatisfy { (0x30...0x39).contains($0) } ? Int(text(digits)) : nil
  }
}

/// An open file or folder under an exclusive lock, which ends with this value.
struct LockedFile: ~Copyable {
  let descriptor: Int32

  /// Opens without waiting for a pipe, and waits for the lock.
  ///
  /// - Parameters:
  ///   - path: The file or folder.
  ///   - busyTimeout: How long to wait for the lock, in milliseconds; a stopped process may hold it.
  ///   - type: `S_IFREG` or `S_IFDIR`.
  /// - Throws: ``UsageFault``, busy if another process keeps the lock.
  init(_ path: String, within busyTimeout: Int32, type: mode_t = S_IFREG) throws(UsageFault) {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard opened >= 0 else { throw UsageFault("read", path) }
    do throws(UsageFault) {
      try Self.check(opened, path, type)
      try Self.lock(opened, path, within: busyTimeout)
    } catch {
      close(opened)
      throw error
    }
    descriptor = opened
  }

  private static func check(_ descriptor: Int32, _ path: String, _ type: mode_t) throws(UsageFault) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw UsageFault("look at", path) }
    let found = status.st_mode & S_IFMT
    guard found == type else {
      throw UsageFault("use", path, reason: found == S_IFDIR ? EISDIR : EINVAL)
    }
  }

  private static func lock(_ descriptor: Int32, _ path: String, within busyTimeout: Int32) throws(UsageFault)
  {
    for attempt in 0... {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR, attempt < busyTimeout else {
        throw UsageFault("lock", path)
      }
      poll(nil, 0, 1)
    }
  }

  deinit { close(descriptor) }

  /// Whether the path still leads to this file.
  func isNamed(_ path: String) -> Bool {
    var (named, opened) = (stat(), stat())
    return stat(path, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_ino == opened.st_ino
      && named.st_dev == opened.st_dev
  }
}

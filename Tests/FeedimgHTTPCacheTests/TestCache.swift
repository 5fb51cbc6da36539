import FeedimgHTTPCache
import FeedimgModel
import Glibc
import Synchronization
import TestSystem

/// A folder for one test, removed with the value.
final class TestFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/feedimg-cache-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw SystemFailure(call: "mkdtemp", reason: errno) }
    path = String(cString: made)
  }

  deinit { Self.removeAll(path) }

  /// The folder of the cache, which does not exist yet.
  var cache: String { path + "/cache" }

  static func removeAll(_ path: String) {
    guard unlink(path) != 0, let stream = opendir(path) else { return }
    while let entry = readdir(stream) {
      let name = Self.name(entry)
      if name != ".", name != ".." { removeAll("\(path)/\(name)") }
    }
    closedir(stream)
    rmdir(path)
  }

  private static func name(_ entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// The paths of the files below it, relative to the cache, in order.
  func files(_ subfolder: String = "") -> [String] {
    var paths: [String] = []
    func list(_ prefix: String) {
      guard let stream = opendir("\(cache)/\(prefix)") else { return }
      defer { closedir(stream) }
      while let entry = readdir(stream) {
        let type = entry.pointee.d_type
        let name = Self.name(entry)
        guard name != ".", name != ".." else { continue }
        let path = prefix.isEmpty ? name : "\(prefix)/\(name)"
        if type == UInt8(DT_DIR) { list(path) } else { paths.append(path) }
      }
    }
    list(subfolder)
    return paths.sorted()
  }

  /// The files of bodies that are being written, relative to the cache.
  var incoming: [String] { files("incoming").filter { !$0.hasSuffix(".session") } }

  /// The files of bodies, relative to the cache.
  var bodies: [String] { files("bodies") }
}

struct SystemFailure: Error {
  var call: String
  var reason: Int32
}

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
  private let time: Mutex<Double>

  init(_ time: Double = 1_800_000_000) { self.time = Mutex(time) }

  var now: Double {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  static func += (clock: TestClock, seconds: Double) { clock.time.withLock { $0 += seconds } }
}

extension CacheLimits {
  static let roomy = CacheLimits(originals: .mebibytes(64), thumbnails: .mebibytes(16), unusedDays: 7)
}

extension MemoryCache {
  /// A cache for encoded images only.
  convenience init(limit: ByteCount) { self.init { MemoryLimits(total: limit, isDecoding: false) } }
}

extension ImageMetadata {
  /// Describes an image whose response arrived at the first time of a `TestClock`.
  init(key: String, role: ImageVariant.Role, mediaType: String, head: ResponseHead) {
    let time = TestClock().now
    let response = StoredResponse(head: head, requestedAt: time, respondedAt: time)
    self.init(key: key, role: role, mediaType: mediaType, response: response)
  }
}

extension DiskCache {
  convenience init(_ folder: TestFolder, limits: CacheLimits = .roomy, clock: TestClock = TestClock()) {
    self.init(folder: folder.cache, limits: limits, clock: { clock.now })
  }

  /// Stores an image in one go.
  @discardableResult
  func store(
    _ key: String,
    _ bytes: [UInt8],
    role: ImageVariant.Role = .original,
    mediaType: String = "image/jpeg",
    fields: HTTPFields = HTTPFields()
  ) throws -> StoredImage {
    let writer = try makeWriter()
    try bytes.withUnsafeBytes { try writer.write($0) }
    let head = ResponseHead(status: 200, fields: fields, url: try ImageURL("https://example.org/image"))
    return try writer.commit(ImageMetadata(key: key, role: role, mediaType: mediaType, head: head))
  }

  /// All images, the most recently used first.
  func list() throws -> [StoredImage] {
    var images: [StoredImage] = []
    try list(by: .used) {
      images.append($0)
      return true
    }
    return images
  }

  /// The bytes of a key, read and verified.
  func bytes(_ key: String) -> [UInt8]? { read(key)?.bytes }
}

/// Bytes that differ for each seed.
func picture(_ seed: Int, size: Int = 1000) -> [UInt8] {
  var state = UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15 | 1
  return (0..<size).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state)
  }
}

/// The content of a file.
///
/// Empty if there is none.
func content(of path: String) -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return [] }
  defer { close(descriptor) }
  var status = stat()
  fstat(descriptor, &status)
  return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
    count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
  }
}

/// Replaces the content of a file.
func overwrite(_ path: String, _ bytes: [UInt8]) {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  defer { close(descriptor) }
  _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
}

import Feedimg
import FeedimgSystem
import Glibc

/// The format and the size in which a client wants an image.
struct Conversion: Sendable, Hashable {
  enum Format: String, Sendable, CaseIterable {
    case png
    /// Pixels without compression (Netpbm).
    case pam
  }

  /// The longest side of a converted image, in pixels; its pixels fit into the limit for bodies.
  static let longestSide = 3840

  let format: Format
  /// The largest size, in pixels.
  let size: PixelSize

  /// Reads `format=`, for the size of the view in the same target; nil where it is absent.
  init?(_ target: RequestTarget, for size: DisplaySize?) throws(Problem) {
    guard let text = target["format"] else { return nil }
    guard let format = Format(rawValue: text) else {
      throw Problem(422, "`format=`: expected `png` or `pam`, found `\(text)`")
    }
    self.format = format
    let (width, height) = (size?.pixels.width ?? .max, size?.pixels.height ?? .max)
    self.size = PixelSize(width: min(width, Self.longestSide), height: min(height, Self.longestSide))
  }

  var mediaType: String {
    switch format {
    case .png: "image/png"
    case .pam: "image/x-portable-arbitrarymap"
    }
  }

  /// The tag of the converted image, which is known before the conversion.
  func tag(of original: EntityTag) -> EntityTag {
    EntityTag(of: Array("\(original.text) \(format) \(size)".utf8))
  }
}

/// `feedimg-pixels`, installed beside this program, which converts images.
///
/// It runs once for each image. The service itself loads no codecs, and an image that a codec mishandles ends only that
/// run, which also limits its own time and memory.
final class PixelsProgram: Sendable {
  private let path = ProcessEnvironment.programFolder() + "feedimg-pixels"
  private let variables: [String]
  /// Waits for one run at a time, so that the memory of all conversions is bounded.
  private let thread = ThreadExecutor("feedimg-pixels")

  init(environment: [String: String]) { variables = environment.map { "\($0.key)=\($0.value)" } }

  /// Converts an image; a request that is cancelled before its turn runs nothing.
  ///
  /// - Throws: ``Problem`` 502 for an image that cannot be decoded, 501 without the program, and 503 without memory.
  func convert(_ bytes: [UInt8], _ conversion: Conversion) async throws(Problem) -> [UInt8] {
    let cancelled = Event()
    let result = await withTaskCancellationHandler {
      await thread.run {
        cancelled.current == nil ? self.run(bytes, conversion) : .failure(Problem(503, "cancelled"))
      }
    } onCancel: {
      cancelled.signal()
    }
    return try result.get()
  }

  private func run(_ bytes: [UInt8], _ conversion: Conversion) -> Result<[UInt8], Problem> {
    guard let input = SystemMemory.seal(bytes) else { return .failure(Self.lacksMemory) }
    defer { close(input) }
    // The reason of a failure takes the place of the image.
    guard let descriptor = SystemMemory.file() else { return .failure(Self.lacksMemory) }
    let output = OpenFile(descriptor: descriptor, path: path)
    let size = conversion.size
    let words = [path, conversion.format.rawValue, String(size.width), String(size.height)]
    let status: Int32
    switch ChildProcess.run(words, variables: variables, input: input, output: descriptor) {
    case .success(let ended): status = ended
    case .failure(let error):
      let text = "`\(path)`: cannot run: \(FileError.words(for: error.code))"
      return .failure(Problem(error.code == ENOENT ? 501 : 503, text))
    }
    let content = (try? output.read(count: Int(output.status().st_size))) ?? []
    guard status != 0 else { return .success(content) }
    // A signal ends a program over its limits.
    let reason =
      status & 0x7F == 0
      ? String(decoding: content.prefix(1000), as: UTF8.self) : "decoding takes too much time or memory"
    return .failure(Problem(502, "the image cannot be converted: \(reason)", code: "undecodable"))
  }

  private static var lacksMemory: Problem { Problem(503, "no memory for the conversion") }
}

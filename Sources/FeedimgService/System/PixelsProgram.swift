import Feedimg
import FeedimgSystem
import Glibc
import Synchronization

/// `feedimg-pixels`, installed beside this program, which converts images.
///
/// It runs once for each image. The service itself loads no codecs, and an image that a codec mishandles ends only that
/// run, which also limits its own time and memory.
final class PixelsProgram: Sendable {
  private let path = ProcessEnvironment.programFolder() + "feedimg-pixels"
  private let variables: [String]
  /// Waits for one run at a time, so that the memory of all conversions is bounded.
  private let thread = ThreadExecutor("feedimg-pixels")

  /// - Parameter environment: The variables of the program.
  init(environment: [String: String]) { variables = environment.map { "\($0.key)=\($0.value)" } }

  /// Converts an image; a request that is cancelled before its turn runs nothing.
  ///
  /// - Throws: ``Problem`` 502 for an image that cannot be decoded, 501 without the program, and 503 without memory.
  func convert(_ bytes: [UInt8], _ conversion: Conversion) async throws(Problem) -> [UInt8] {
    let request = Request()
    let result = await withTaskCancellationHandler {
      await thread.run {
        request.isCancelled ? .failure(Problem(503, "cancelled")) : self.run(bytes, conversion)
      }
    } onCancel: {
      request.cancel()
    }
    return try result.get()
  }

  private func run(_ bytes: [UInt8], _ conversion: Conversion) -> Result<[UInt8], Problem> {
    guard let input = SystemMemory.seal(bytes) else { return .failure(Self.lacksMemory) }
    defer { close(input) }
    // The reason of a failure takes the place of the image.
    guard let output = SystemMemory.file() else { return .failure(Self.lacksMemory) }
    defer { close(output) }
    let size = conversion.size
    let words = [path, conversion.format.rawValue, String(size.width), String(size.height)]
    let status: Int32
    switch ChildProcess.run(words, variables: variables, input: input, output: output) {
    case .success(let ended): status = ended
    case .failure(let error):
      let text = "`\(path)`: cannot run: \(SystemErrorText.of(error.code))"
      return .failure(Problem(error.code == ENOENT ? 501 : 503, text))
    }
    let content = Self.content(of: output)
    guard status != 0 else { return .success(content) }
    // A signal ends a program over its limits.
    let reason =
      status & 0x7F == 0
      ? String(decoding: content.prefix(1000), as: UTF8.self) : "decoding takes too much time or memory"
    return .failure(Problem(502, "the image cannot be converted: \(reason)", code: "undecodable"))
  }

  private static var lacksMemory: Problem { Problem(503, "no memory for the conversion") }

  private static func content(of file: Int32) -> [UInt8] {
    var information = stat()
    guard fstat(file, &information) == 0 else { return [] }
    let length = Int(information.st_size)
    return [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      while count < length {
        let read = pread(file, buffer.baseAddress.map { $0 + count }, length - count, off_t(count))
        if read < 0, errno == EINTR { continue }
        guard read > 0 else { return }
        count += read
      }
    }
  }

  /// Whether a client still waits for its image.
  private final class Request: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .acquiring) }

    func cancel() { flag.store(true, ordering: .releasing) }
  }
}

import CPNG
import CPixels
import FeedimgDecoding
import FeedimgModel
import FeedimgSystem
import Glibc

/// `feedimg-pixels FORMAT WIDTH HEIGHT`, which the service runs: converts the image on standard input for a view.
///
/// It is a separate program, so that the service loads no codecs and a hostile image cannot reach its memory. Writes the
/// image to standard output, and ends with 1 and the reason on standard error if it cannot.
@main
enum Main {
  static func main() async {
    let words = CommandLine.arguments
    guard words.count == 4, let format = Format(rawValue: words[1]), let width = Double(words[2]),
      let height = Double(words[3])
    else { fail("expected a format, a width and a height", status: 2) }
    // A codec that takes longer or more than any image needs is stopped by the system.
    limit(RLIMIT_CPU, to: 10)
    limit(RLIMIT_AS, to: 1 << 30)
    var limits = DecodingLimits()
    limits.memory = .mebibytes(256)
    do throws(DecodeError) {
      let decoder = CodecDecoder(limits: limits, threads: 1)
      let request = DecodeRequest(DisplaySize(width: width, height: height), damage: .show)
      try format.write(try await decoder.decode(standardInput(), request).bitmap)
    } catch {
      fail(error.message)
    }
  }

  private static func limit(_ kind: __rlimit_resource, to value: rlim_t) {
    var limit = rlimit()
    let kind = __rlimit_resource_t(kind.rawValue)
    guard getrlimit(kind, &limit) == 0 else { return }
    (limit.rlim_cur, limit.rlim_max) = (min(limit.rlim_max, value), min(limit.rlim_max, value))
    _ = setrlimit(kind, &limit)
  }

  private static func standardInput() -> [UInt8] {
    // A file in memory may be at its end.
    lseek(STDIN_FILENO, 0, SEEK_SET)
    do throws(FileError) {
      return try OpenFile(descriptor: STDIN_FILENO, path: "standard input").read(upTo: .max)
    } catch {
      fail(error.description)
    }
  }

  private static func fail(_ message: String, status: Int32 = 1) -> Never {
    let bytes = Array(message.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(status)
  }
}

/// The formats of the result.
private enum Format: String {
  case png
  /// A Netpbm header, then red, green, blue and straight alpha of each pixel.
  case pam

  /// Writes the pixels to standard output.
  ///
  /// - Throws: ``DecodeError`` with `unavailable` if they cannot be written.
  func write(_ bitmap: Bitmap) throws(DecodeError) {
    var pixels = bitmap.bytes
    let (width, height) = (bitmap.size.width, bitmap.size.height)
    if !bitmap.isOpaque { cpixels_unpremultiply(&pixels, pixels.count / 4) }
    guard let output = fdopen(STDOUT_FILENO, "w") else { throw Self.unwritten }
    switch self {
    case .png:
      guard cpng_write(output, pixels, UInt32(width), UInt32(height)) else { throw Self.unwritten }
    case .pam:
      let head =
        "P7\nWIDTH \(width)\nHEIGHT \(height)\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
      fputs(head, output)
      // fclose(3) reports only what it writes itself.
      guard fwrite(pixels, 1, pixels.count, output) == pixels.count else { throw Self.unwritten }
    }
    guard fclose(output) == 0 else { throw Self.unwritten }
  }

  private static var unwritten: DecodeError { DecodeError(.unavailable, "the image cannot be written") }
}

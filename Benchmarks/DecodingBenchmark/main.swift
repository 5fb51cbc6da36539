import FeedimgDecoding
import FeedimgModel
import Glibc

/// Decodes one image to a size COUNT times, and prints the time of each in milliseconds.
///
///   DecodingBenchmark FILE WIDTH HEIGHT COUNT
enum DecodingBenchmark {
  static func run() async -> Int32 {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let width = Double(arguments[2]), let height = Double(arguments[3]),
      let count = Int(arguments[4])
    else {
      print("usage: DecodingBenchmark FILE WIDTH HEIGHT COUNT")
      return 2
    }
    guard let bytes = read(arguments[1]) else {
      perror(arguments[1])
      return 1
    }
    let decoder = CodecDecoder(threads: 1)
    let request = DecodeRequest(width > 0 ? DisplaySize(width: width, height: height) : nil)
    for _ in 0..<count {
      do throws(DecodeError) {
        var size = PixelSize(width: 0, height: 0)
        let start = ContinuousClock.now
        size = try await decoder.decode(bytes, request).bitmap.size
        print((ContinuousClock.now - start) / .milliseconds(1), size)
      } catch {
        print(error)
        return 1
      }
    }
    return 0
  }

  private static func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var status = stat()
    guard fstat(fileno(file), &status) == 0, status.st_size > 0 else { return [] }
    // In one read, like the decoder library that it is compared with.
    return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
      count = fread(buffer.baseAddress, 1, buffer.count, file)
    }
  }
}

exit(await DecodingBenchmark.run())

import FeedimgModel
import Glibc
import Testing

/// A progressive JPEG of 256 × 192 pixels whose every scan changes the picture.
enum Clouds {
  /// The end of each scan, in bytes.
  static let ends = [883, 1433, 1725, 1975, 2022, 3261, 3420, 3793, 4150, 7105]

  static func bytes() throws -> [UInt8] { try fixture("clouds.jpg") }

  /// One of the pictures of the decoder's tests.
  static func fixture(_ name: String) throws -> [UInt8] {
    let tests = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let path = "/\(tests)/FeedimgDecodingTests/Fixtures/\(name)"
    let file = try #require(fopen(path, "re"), "there is no picture at \(path)")
    defer { fclose(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { content += chunk[..<count] }
    return content
  }
}

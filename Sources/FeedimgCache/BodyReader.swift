import FeedimgModel
import Glibc

/// Reads a body again that is being written, for as long as this lives; its file may get another name or lose it.
final class BodyReader: WrittenReading {
  private let file: OpenFile

  /// Opens the file anew, since whoever shares a descriptor shares the lock on it; nil where that is not to be had.
  init?(again descriptor: Int32) {
    do throws(FileFault) {
      file = try OpenFile("/proc/self/fd/\(descriptor)", to: "read", O_RDONLY)
    } catch {
      return nil
    }
  }

  func bytes(at position: Int, count: Int) -> [UInt8]? {
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count, !failed {
        let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let got = pread(file.descriptor, rest.baseAddress, rest.count, position + filled)
        if got > 0 { filled += got } else { failed = got == 0 || errno != EINTR }
      }
    }
    return failed ? nil : bytes
  }
}

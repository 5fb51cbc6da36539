import FeedimgHTTPCache
import FeedimgModel
import Glibc
import TestSystem

func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = write(STDOUT_FILENO, line, line.count)
}

/// Whether the test has closed its end.
///
/// Yields the processor for a moment.
func isToldToStop() -> Bool {
  var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
  return poll(&input, 1, 1) > 0
}

func metadata(_ key: Int) throws -> ImageMetadata {
  let head = ResponseHead(status: 200, fields: HTTPFields(), url: try ImageURL(Specimen.key(key)))
  let role: ImageVariant.Role = key.isMultiple(of: 3) ? .thumbnail : .original
  let now = Double(time(nil))
  let response = StoredResponse(head: head, requestedAt: now, respondedAt: now)
  return ImageMetadata(key: Specimen.key(key), role: role, mediaType: "image/jpeg", response: response)
}

func store(_ specimen: Specimen, in cache: DiskCache) throws {
  _ = try write(specimen, in: cache).commit(try metadata(specimen.key))
}

private func write(_ specimen: Specimen, in cache: DiskCache) throws -> any ImageWriting {
  let writer = try cache.makeWriter()
  let bytes = specimen.bytes
  // A reader causes every second image to be written to a file from the start.
  if specimen.key.isMultiple(of: 2) { _ = writer.makeReader() }
  for start in stride(from: 0, to: bytes.count, by: 4096) {
    try bytes[start..<min(start + 4096, bytes.count)].withUnsafeBytes { try writer.write($0) }
  }
  return writer
}

/// Stores images in one transaction, except those that cannot be written.
///
/// - Parameters:
///   - specimens: The images.
///   - cache: The cache to store them in.
///   - before: Called when their bodies are on disk, before their rows are written.
/// - Throws: The error of the first image that could not be written.
func storeTogether(
  _ specimens: [Specimen],
  in cache: DiskCache,
  before: @escaping @Sendable () -> Void = {}
) throws {
  let executor = OwnExecutor()
  var fault: (any Error)?
  for specimen in specimens {
    do {
      let (writer, metadata) = (try write(specimen, in: cache), try metadata(specimen.key))
      Task(executorPreference: executor) {
        _ = try? await writer.commit(metadata) { work in
          executor.afterwards(before)
          executor.afterwards(work)
        }
      }
    } catch {
      fault = fault ?? error
    }
  }
  // After an error too, since started work must be completed.
  executor.run()
  if let fault { throw fault }
}

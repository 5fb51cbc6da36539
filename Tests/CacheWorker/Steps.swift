import FeedimgHTTPCache
import FeedimgModel
import Glibc

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
  executor.prepare(before)
  var fault: (any Error)?
  for specimen in specimens {
    do {
      let (writer, metadata) = (try write(specimen, in: cache), try metadata(specimen.key))
      Task(executorPreference: executor) { _ = try? await writer.commit(metadata, executor.afterwards) }
    } catch {
      fault = fault ?? error
    }
  }
  // After an error too, since started work must be completed.
  executor.run()
  if let fault { throw fault }
}

/// Runs tasks on the thread that starts them, because a fork has no other thread.
private final class OwnExecutor: TaskExecutor, @unchecked Sendable {
  // Unchecked: one thread uses it.
  private var jobs: [UnownedJob] = []
  private var rest: [@Sendable () -> Void] = []
  private var preparation: @Sendable () -> Void = {}

  func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

  /// Runs this work before the deferred jobs.
  func prepare(_ work: @escaping @Sendable () -> Void) { preparation = work }

  func afterwards(_ work: @escaping @Sendable () -> Void) {
    rest += [preparation, work]
    preparation = {}
  }

  func run() {
    while !jobs.isEmpty || !rest.isEmpty {
      if jobs.isEmpty { rest.removeFirst()() } else { run(jobs.removeFirst()) }
    }
  }

  private func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}

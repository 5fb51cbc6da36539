import Feedimg
import Logging
import Synchronization
import Testing

@testable import FeedimgObservability

/// The log lines of loads.
@Suite struct LoadLoggerTests {
  /// Keeps the logged lines.
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let metadata = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      lines.add("\(event.level) \(event.message) \(metadata.joined(separator: " "))")
    }
  }

  private let lines = Lines()

  private func logger(_ level: Logger.Level) -> LoadLogger {
    LoadLogger(Logger(label: "test") { [lines] _ in Handler(lines: lines, logLevel: level) })
  }

  static func event(_ step: LoadEvent.Step) throws -> LoadEvent {
    LoadEvent(load: 7, item: try ResolutionSample.item(), time: .now, step: step)
  }

  static let original = "original=https://pictures.example/a.jpg"
  static let thumbnail = "thumbnail=https://pictures.example/s.jpg"

  static let rows: [(LoadEvent.Step, String)] = [
    (.queued, "debug waiting for a transfer slot load=7 \(original) \(thumbnail)"),
    (.responded(status: 404), "debug response received load=7 \(original) status=404 \(thumbnail)"),
    (.finished(.disk), "info load finished load=7 \(original) source=disk \(thumbnail)"),
    (
      .progress(LoadProgress(received: ByteCount(5), total: nil)),
      "trace bytes arrived load=7 \(original) received=5 \(thumbnail)"
    ),
    (
      .notStored("the disk is full"),
      "warning image not stored load=7 \(original) \(thumbnail) why=the disk is full"
    ),
    (.cancelled, "info load cancelled load=7 \(original) \(thumbnail)"),
    (
      .failed(LoadError(.nothingToShow, message: "a")),
      "info load failed error=nothingToShow load=7 \(original) \(thumbnail) why=a"
    ),
  ]

  @Test(arguments: rows)
  func `each step is a line with its facts and the images of its item`(
    _ step: LoadEvent.Step,
    _ line: String
  ) throws {
    logger(.trace).observe(try Self.event(step))
    #expect(lines.all == [line])
  }

  @Test func `a line names the image that was chosen or that failed`() throws {
    let url = try ImageURL("https://pictures.example/s.jpg?token=secret")
    let error = LoadError(.timeout, url: url, message: "no response")
    let steps: [LoadEvent.Step] = [
      .decided(try ResolutionSample.resolution(on: "cellular")), .retried(error, after: .seconds(1)),
      .failed(error), .notRevalidated(error),
    ]
    for step in steps { logger(.trace).observe(try Self.event(step)) }
    for line in lines.all { #expect(line.contains(" url=https://pictures.example/s.jpg why=")) }
    #expect(lines.all.count == steps.count)
  }

  static let addresses = [
    ("https://a.example/b.jpg", "https://a.example/b.jpg"),
    ("https://user:password@a.example/b.jpg", "https://a.example/b.jpg"),
    ("http://token@a.example:8080/b@2x.jpg?c=@d#e", "http://a.example:8080/b@2x.jpg"),
    ("http://user:pass@word@a.example?secret", "http://a.example"),
    ("http://a.example/?\u{301}secret", "http://a.example/"),
    ("http://[::1]:80/?to=http://user@a.example/", "http://[::1]:80/"),
  ]

  @Test(arguments: addresses)
  func `a URL is logged without user, password, query and fragment`(
    _ address: String,
    _ told: String
  ) throws {
    let url = try ImageURL(address)
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    logger(.trace).observe(LoadEvent(load: 7, item: item, time: .now, step: .redirected(url)))
    #expect(lines.all == ["debug redirected load=7 original=\(told) to=\(told)"])
  }

  @Test func `messages below the level are not written`() throws {
    for (step, _) in Self.rows { logger(.info).observe(try Self.event(step)) }
    #expect(lines.all.count == 4)
  }
}

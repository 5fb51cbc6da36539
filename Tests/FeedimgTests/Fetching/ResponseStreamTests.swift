import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Bodies that are read while they arrive.
@Suite(.timeLimit(.minutes(10))) struct ResponseStreamTests {
  private let body = ResponseStream()

  private func append(_ bytes: [UInt8], at position: Int) {
    bytes.withUnsafeBytes { body.append($0, at: position) }
  }

  /// All received bytes, and the error at the end.
  private static func read(_ body: ResponseStream) async -> ([UInt8], LoadError?) {
    var bytes: [UInt8] = []
    do throws(LoadError) {
      while let chunk = try await body.chunk(at: bytes.count) { bytes += chunk }
      return (bytes, nil)
    } catch {
      return (bytes, error)
    }
  }

  @Test func `a late reader reads the same bytes as an early one`() async {
    let early = Task { [body] in await Self.read(body) }
    append([1, 2], at: 0)
    append([3], at: 2)
    let late = Task { [body] in await Self.read(body) }
    append([4], at: 3)
    body.end()
    #expect(await early.value.0 == [1, 2, 3, 4])
    #expect(await late.value.0 == [1, 2, 3, 4])
  }

  @Test func `known bytes are not delivered again, and no bytes are missing`() async {
    append([1, 2, 3], at: 0)
    append([1, 2], at: 0)
    append([3, 4], at: 2)
    append([9], at: 7)
    body.end()
    append([5], at: 4)
    #expect(await Self.read(body).0 == [1, 2, 3, 4])
  }

  @Test func `a reader receives the error after the bytes that arrived before it`() async {
    append([1], at: 0)
    body.end(LoadError(.truncated, message: "x"))
    let (bytes, error) = await Self.read(body)
    #expect((bytes, error?.code) == ([1], .truncated))
  }

  /// Bytes that have left memory come from this file.
  private final class File: WrittenReading {
    let content: [UInt8]?
    init(_ content: [UInt8]?) { self.content = content }
    func bytes(at position: Int, count: Int) -> [UInt8]? {
      content.map { Array($0[position..<position + count]) }
    }
  }

  private static let content = (0..<40).flatMap {
    [UInt8](repeating: $0, count: ResponseStream.window / 10 + 7)
  }

  private func appendAll(notingWhatIsWritten file: File?) {
    let length = Self.content.count / 40
    for position in stride(from: 0, to: Self.content.count, by: length) {
      append(Array(Self.content[position..<position + length]), at: position)
      if let file { body.note(file, holding: position + length) }
    }
  }

  @Test func `bytes that are on disk stay in memory only for readers that keep up`() async {
    appendAll(notingWhatIsWritten: File(Self.content))
    #expect((ResponseStream.window - 110_000...ResponseStream.window).contains(body.heldCount))
    body.end()
    #expect(body.count == Self.content.count)
    #expect(await Self.read(body).0 == Self.content)
  }

  @Test func `bytes that are not on disk stay in memory`() async {
    appendAll(notingWhatIsWritten: nil)
    #expect(body.heldCount == Self.content.count)
    // Only the first half was written; then the disk was full.
    body.note(File(Array(Self.content.prefix(Self.content.count / 2))), holding: Self.content.count / 2)
    #expect(body.heldCount < Self.content.count / 2 + 110_000)
    body.end()
    #expect(await Self.read(body).0 == Self.content)
    // Memory has already dropped more bytes than this.
    body.note(File([]), holding: 0)
    #expect(await Self.read(body).0 == Self.content)
  }

  @Test func `an interrupted stream fails if its bytes cannot be read again`() async {
    appendAll(notingWhatIsWritten: File(nil))
    body.end()
    let (bytes, error) = await Self.read(body)
    #expect((bytes, error?.code) == ([], .truncated))
  }

  @Test func `a cancelled reader does not wait`() async {
    let reader = Task { [body] in await Self.read(body) }
    reader.cancel()
    #expect(await reader.value.1?.code == .cancelled)
  }
}

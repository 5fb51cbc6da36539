import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Bodies that are read while they come.
@Suite(.timeLimit(.minutes(10))) struct ResponseStreamTests {
  private let body = ResponseStream()

  private func append(_ bytes: [UInt8], at position: Int) {
    bytes.withUnsafeBytes { body.append($0, at: position) }
  }

  /// All that comes, and how it ends.
  private static func read(_ body: ResponseStream) async -> ([UInt8], LoadError?) {
    var bytes: [UInt8] = []
    do throws(LoadError) {
      while let chunk = try await body.chunk(at: bytes.count) { bytes += chunk }
      return (bytes, nil)
    } catch {
      return (bytes, error)
    }
  }

  @Test func `who comes late reads what who came early has read`() async {
    let early = Task { [body] in await Self.read(body) }
    append([1, 2], at: 0)
    append([3], at: 2)
    let late = Task { [body] in await Self.read(body) }
    append([4], at: 3)
    body.end()
    #expect(await early.value.0 == [1, 2, 3, 4])
    #expect(await late.value.0 == [1, 2, 3, 4])
  }

  @Test func `what is known is not told again, and no gap is`() async {
    append([1, 2, 3], at: 0)
    append([1, 2], at: 0)
    append([3, 4], at: 2)
    append([9], at: 7)
    body.end()
    append([5], at: 4)
    #expect(await Self.read(body).0 == [1, 2, 3, 4])
  }

  @Test func `who reads hears that it broke off, after what has come`() async {
    append([1], at: 0)
    body.end(LoadError(.truncated, message: "x"))
    let (bytes, error) = await Self.read(body)
    #expect((bytes, error?.code) == ([1], .truncated))
  }

  /// What is behind the window of memory comes from here.
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

  @Test func `what is on disk is held for those who keep up alone`() async {
    appendAll(notingWhatIsWritten: File(Self.content))
    #expect((ResponseStream.window - 110_000...ResponseStream.window).contains(body.heldCount))
    body.end()
    #expect(body.count == Self.content.count)
    #expect(await Self.read(body).0 == Self.content)
  }

  @Test func `what is nowhere else is held`() async {
    appendAll(notingWhatIsWritten: nil)
    #expect(body.heldCount == Self.content.count)
    // Written up to half of it, and no further: the disk was full then.
    body.note(File(Array(Self.content.prefix(Self.content.count / 2))), holding: Self.content.count / 2)
    #expect(body.heldCount < Self.content.count / 2 + 110_000)
    body.end()
    #expect(await Self.read(body).0 == Self.content)
    // Less than what is gone already.
    body.note(File([]), holding: 0)
    #expect(await Self.read(body).0 == Self.content)
  }

  @Test func `what cannot be read again breaks off`() async {
    appendAll(notingWhatIsWritten: File(nil))
    body.end()
    let (bytes, error) = await Self.read(body)
    #expect((bytes, error?.code) == ([], .truncated))
  }

  @Test func `who is cancelled does not wait`() async {
    let reader = Task { [body] in await Self.read(body) }
    reader.cancel()
    #expect(await reader.value.1?.code == .cancelled)
  }
}

import FeedimgModel
import Testing

@testable import Feedimg

/// Bodies that are read while they come.
@Suite(.timeLimit(.minutes(1))) struct ArrivingBodyTests {
  private let body = ArrivingBody()

  private func append(_ bytes: [UInt8], at position: Int) {
    bytes.withUnsafeBytes { body.append($0, at: position) }
  }

  /// All that comes, and how it ends.
  private static func read(_ body: ArrivingBody) async -> ([UInt8], LoadError?) {
    var bytes: [UInt8] = []
    do throws(LoadError) {
      var index = 0
      while let chunk = try await body.chunk(index) {
        bytes += chunk
        index += 1
      }
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

  @Test func `who is cancelled does not wait`() async {
    let reader = Task { [body] in await Self.read(body) }
    reader.cancel()
    #expect(await reader.value.1?.code == .cancelled)
  }
}

import FoundationEssentials
import Synchronization
import Testing

@testable import Feedimg

/// What transfers hold that wait for their place.
@Suite(.timeLimit(.minutes(10))) struct WaitingBodyTests {
  private final class Line: LoadObserving {
    private let count = Atomic(0)

    func observe(_ event: LoadEvent) {
      if case .queued = event.step { count.add(1, ordering: .releasing) }
    }

    func reaches(_ length: Int) async {
      while count.load(ordering: .acquiring) < length { await Task.yield() }
    }
  }

  /// How many bodies are being written.
  private func fileCount(_ test: TestLoader) throws -> Int {
    let names = try FileManager.default.contentsOfDirectory(atPath: test.folder + "/cache/incoming")
    return names.count { !$0.contains(".") }
  }

  @Test func `what waits for its place holds no file`() async throws {
    let (downloader, line) = (HeldDownloader(holding: { _ in true }), Line())
    let test = try TestLoader(.cellular, downloader: downloader, time: ManualTime().time, observers: [line])
    let loads = try (0..<200).map { number in
      let item = try TestLoader.item(thumbnail: "http://h\(number % 20).example/\(number)")
      return Task { try await test.loader.load(item) }
    }
    await line.reaches(200)
    while downloader.running < 2 { await Task.yield() }
    let count = try fileCount(test)
    #expect(count == 2, "two have a place")
    downloader.release()
    for load in loads { #expect(try await load.value.path != nil) }
    #expect(try fileCount(test) == 0)
  }
}

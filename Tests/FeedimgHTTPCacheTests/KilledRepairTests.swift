import FeedimgSystem
import Glibc
import Testing

@testable import FeedimgHTTPCache

/// Real processes that are killed during a repair.
@Suite struct KilledRepairTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Starts a task and kills it at a random moment, unless it has ended by then.
  private func kill(_ task: String, within microseconds: Int) throws {
    let child = try Child([Child.worker, task, folder.cache])
    #expect(child.line() == "ready")
    let moment = ContinuousClock.now + .microseconds(Int.random(in: 0..<microseconds))
    while ContinuousClock.now < moment {}
    child.kill()
    #expect([0, -SIGKILL].contains(child.wait()))
  }

  @Test
  func `an index whose replacement is killed repeatedly is replaced in the end, and no file is left`()
    throws
  {
    let index = folder.cache + "/index.sqlite"
    for round in 0..<60 {
      #expect(try Child([Child.worker, "write-some", folder.cache]).lines() == ["done"])
      // The index is damaged, lost, or as the last process left it.
      switch round % 3 {
      case 0: overwrite(index, picture(round, size: 20_000))
      case 1: unlink(index)
      default: break
      }
      for _ in 0..<3 { try kill("renew", within: 12_000) }
    }
    // An hour later, a store removes the replaced bodies.
    let cache = DiskCache(folder: folder.cache, limits: .roomy, clock: { SystemClock.seconds() + 3600 })
    try cache.store("next", picture(1))
    let checked = try cache.verify()
    #expect(checked.removed == [] && checked.unreadable == [])
    #expect(try cache.info().entries == checked.whole)
    #expect(folder.bodies.count == checked.whole)
  }

  @Test func `after any stop or kill, rows and bodies agree once the next image is stored`()
    throws
  {
    // Some hundred moments, different ones each time. `CacheWorker kills FOLDER 1` tries all of them, which
    // takes hours.
    let child = try Child([Child.worker, "kills", folder.path, "400"])
    let lines = child.lines()
    #expect(child.wait() == 0)
    #expect(lines.count == 1, "\(lines.joined(separator: "\n"))")
    let words = (lines.last ?? "").split(separator: " ")
    #expect((words.dropFirst().first.flatMap { Int($0) } ?? 0) > 300)
    #expect(words.last == "0")
  }

  @Test func `a killed writer's partial image is resumed, also if taking it over is killed`() throws {
    let cache = DiskCache(folder: folder.cache, limits: .roomy, clock: SystemClock.seconds)
    for _ in 0..<40 {
      cache.removePartialDownload(of: "https://example.org/0.jpg")
      let writer = try Child([Child.worker, "trickle", folder.cache])
      var written = 0
      for _ in 0..<Int.random(in: 0..<80) { written = writer.line().flatMap { Int($0) } ?? 0 }
      writer.kill()
      #expect(writer.wait() == -SIGKILL)
      for _ in 0..<2 { try kill("go-on", within: 600) }
      let found = try Child([Child.worker, "go-on", folder.cache]).lines().last ?? ""
      let words = found.split(separator: " ")
      #expect(words.first == "whole")
      #expect((words.last.flatMap { Int($0) } ?? -1) >= written, "\(found) of \(written)")
    }
    try cache.store("next", picture(1))
    cache.sweepIncoming()
    #expect(folder.incoming.isEmpty)
    #expect(folder.files("partial").count <= 1)
  }
}

import LoopbackServer
import Testing

/// Several processes at once, each as short as a command.
@Suite struct ConcurrencyTests {
  @Test func `many short commands at once all find the cached image`() async throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try folder.write(
      "item.json",
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil)
    )
    #expect(try CommandRun(["load", "--item", path, "--network", "wifi"], in: folder).status == 0)
    let statuses = await withTaskGroup(of: [Int32].self) { group in
      for _ in 0..<4 {
        group.addTask {
          (0..<25).map { _ in
            (try? CommandRun(["load", "--item", path, "--network", "offline"], in: folder).status) ?? -1
          }
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(statuses == Array(repeating: 0, count: 100))
    #expect(server.log.requests.count == 1)
  }

  @Test func `two commands that change settings at once lose no change`() async throws {
    let folder = try TestFolder()
    let changes = [
      ("cache-expiry-days", "9"), ("cache-originals-limit", "1 GiB"), ("download-limit", "2 MiB"),
      ("always-load-originals-on-cellular", "yes"),
    ]
    await withTaskGroup(of: Void.self) { group in
      for (name, value) in changes {
        group.addTask { _ = try? CommandRun(["settings", "set", name, value], in: folder) }
      }
    }
    for (name, value) in changes {
      #expect(try CommandRun(["settings", "get", name], in: folder).output == value + "\n")
    }
  }
}

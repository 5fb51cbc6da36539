import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization
import TestSystem
import Testing

@testable import FeedimgSettings

/// Several writers and readers of one file at once.
struct ConcurrentSettingsTests {
  private let folder: TemporaryFolder
  private let file: SettingsFile

  init() throws {
    folder = try TemporaryFolder()
    file = SettingsFile(folder: folder.path)
  }

  @Test func `concurrent writers keep the settings of each other`() throws {
    try folder.write("{\"future\": [1]}", to: "settings.json")
    let failures = Mutex<[String]>([])
    let file = file
    onThreads(5) { number in
      // Each thread writes its own setting through its own `SettingsFile`, as processes do.
      let own: [SettingKey] = [
        .cacheOriginalsLimit, .cacheThumbnailsLimit, .cacheMemoryLimit, .cacheExpiryDays, .downloadLimit,
      ]
      let writer = SettingsFile(folder: FilePath(file.path).folder)
      for value in 1...12 {
        do {
          let written = try writer.set(own[number], to: String(value))
          guard written.stored.contains(own[number]) else { throw SettingsError(.unwritable, "lost") }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(failures.withLock { $0 } == [])
    let snapshot = file.read()
    #expect(snapshot.stored.count == 5)
    #expect(snapshot.settings.cacheExpiryDays == 12)
    let sizes = [
      snapshot.settings.cacheOriginalsLimit, snapshot.settings.cacheThumbnailsLimit,
      snapshot.settings.cacheMemoryLimit, snapshot.settings.downloadLimit,
    ]
    #expect(sizes.allSatisfy { $0 == ByteCount(12) })
    #expect(try folder.text(of: "settings.json")?.hasPrefix("{\n  \"future\": [\n    1\n  ]") == true)
    #expect(folder.names == [".settings.json.lock", "settings.json"])
  }

  @Test func `a reader never sees half a file`() throws {
    // Longer than a block, so that a reader could see half of it.
    let filler = String(repeating: "x", count: 100_000)
    try folder.write("{\"filler\": \"\(filler)\", \"cache-expiry-days\": 1}", to: "settings.json")
    let file = file
    let isWriting = Mutex(true)
    let torn = Mutex(0)
    onThreads(3) { number in
      if number == 0 {
        for value in 2...60 { _ = try? file.set(.cacheExpiryDays, to: String(value)) }
        return isWriting.withLock { $0 = false }
      }
      var last = 1
      while isWriting.withLock({ $0 }) {
        let snapshot = file.read()
        let value = snapshot.settings.cacheExpiryDays
        if !snapshot.warnings.isEmpty || snapshot.stored != [.cacheExpiryDays] || value < last {
          torn.withLock { $0 += 1 }
        }
        last = value
      }
    }
    #expect(torn.withLock { $0 } == 0)
    #expect(file.read().settings.cacheExpiryDays == 60)
  }

  @Test func `a writer waits for a writer in another process`() throws {
    // The shell holds the lock until its standard input ends.
    let lock = folder[".settings.json.lock"]
    let holder = try ShellCommand(
      "exec 9>'\(lock)'; flock 9; echo locked; cat >/dev/null; echo 30 >'\(lock)'"
    )
    #expect(try holder.readLine() == "locked")
    let attempt = try OpenFile(lock, to: "lock", O_RDWR)
    #expect(flock(attempt.descriptor, LOCK_EX | LOCK_NB) != 0)
    let file = file
    let lockText = Mutex<[UInt8]>([])
    onThreads(2) { number in
      if number == 0 { return holder.closeInput() }
      _ = try? file.set(.cacheExpiryDays, to: "30")
      // The shell wrote this before it released the lock.
      let text = try? AtomicFile(lock).content()
      lockText.withLock { $0 = text ?? [] }
    }
    #expect(lockText.withLock { $0 } == Array("30\n".utf8))
    #expect(file.read().settings.cacheExpiryDays == 30)
    holder.wait()
  }

  @Test func `files of a killed writer are ignored, then removed`() throws {
    _ = try file.set(.cacheExpiryDays, to: "30")
    try folder.write("{\"cache-expiry", to: ".settings.json.tmp")
    #expect(file.read().settings.cacheExpiryDays == 30)
    #expect(file.read().warnings.isEmpty)
    _ = try file.set(.cacheExpiryDays, to: "31")
    #expect(folder.names == [".settings.json.lock", "settings.json"])
    #expect(file.read().settings.cacheExpiryDays == 31)
  }
}

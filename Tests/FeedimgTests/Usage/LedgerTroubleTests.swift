import FeedimgModel
import FeedimgSQLite
import FeedimgSettings
import FeedimgSystem
import FeedimgUsage
import FoundationEssentials
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How a loader handles a usage ledger that it cannot read or write.
@Suite final class LedgerTroubleTests: Sendable {
  let folder = FileManager.default.temporaryDirectory.path + "/feedimg-trouble-\(UUID().uuidString)"

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private var usage: String { "\(folder)/usage" }

  /// A ledger and the path of its database.
  private func ledger() -> (ledger: UsageLedger, file: String) {
    let now = SystemClock.seconds()
    return (UsageLedger(folder: usage) { now }, "\(usage)/usage.sqlite")
  }

  private func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  private static func budget(_ loader: ImageLoader) throws -> (left: String?, source: String?) {
    let item = try TestLoader.item(original: "http://pictures.example/a.jpg")
    let fact = loader.resolve(item).facts.first { $0.name == "budget left" }
    return (fact?.value, fact?.source)
  }

  enum Obstacle: CaseIterable {
    case none, emptyFolder, folderAsFile, fileAsFolder
  }

  @Test(arguments: Obstacle.allCases)
  func `an unreadable ledger counts as a spent budget, and is reported once`(_ obstacle: Obstacle) throws {
    let (ledger, file) = ledger()
    switch obstacle {
    case .none: break
    case .emptyFolder: try makeFolder(usage)
    case .folderAsFile: try makeFolder(file)
    case .fileAsFolder:
      try makeFolder(folder)
      try Data().write(to: URL(filePath: usage))
    }
    let bench = try TestLoader(.cellular, policy: "budgeted", usage: ledger)
    try bench.settings.set(.cellularBudget, to: "600 MB")
    let (left, source) = try Self.budget(bench.loader)
    let warnings = bench.loader.warnings
    guard obstacle == .folderAsFile || obstacle == .fileAsFolder else {
      #expect(left == "600 MB" && warnings.isEmpty, "\(warnings)")
      return
    }
    #expect(left == "0 B")
    let fault =
      obstacle == .folderAsFile ? "cannot read `\(file)`: is a directory" : "`\(file)`: not a directory"
    #expect(source?.hasPrefix("the setting cellular-budget, which counts as spent: cannot ") == true)
    #expect(source?.hasSuffix(fault) == true, "\(source ?? "")")
    #expect(warnings.count == 1 && warnings[0].hasPrefix("the cellular-budget counts as spent: cannot "))
    #expect(warnings.first?.hasSuffix(fault) == true, "\(warnings)")
    #expect(try Self.budget(bench.loader).left == "0 B" && bench.loader.warnings.isEmpty)
  }

  @Test func `earlier readings count when the ledger becomes unreadable`() throws {
    let (ledger, file) = ledger()
    let bench = try TestLoader(.cellular, policy: "budgeted", usage: ledger)
    try bench.settings.set(.cellularBudget, to: "600 MB")
    ledger.add(ByteCount(100_000_000), transfers: 1, network: .cellular, metered: .yes)
    ledger.write()
    #expect(try Self.budget(bench.loader).left == "500 MB")
    try FileManager.default.removeItem(atPath: file)
    try makeFolder(file)
    #expect(try Self.budget(bench.loader).left == "500 MB")
    #expect(bench.loader.warnings.isEmpty)
  }

  @Test func `usage that a lock kept from the disk is written at the end`() async throws {
    let (ledger, file) = ledger()
    ledger.add(ByteCount(1), transfers: 1, network: .cellular, metered: .yes)
    ledger.write()
    let downloader = TestDownloader(body: SampleImage.jpeg)
    let bench = try TestLoader(.wifi, downloader: downloader, usage: ledger)
    func total() throws -> Int {
      try UsageLedger(folder: usage) { 0 }.all().usage.reduce(0) { $0 + $1.received.bytes }
    }
    let other = try SQLiteConnection(path: file, access: .write)
    try other.execute("BEGIN IMMEDIATE")
    _ = try await bench.loader.load(try TestLoader.item(original: "http://pictures.example/a.jpg"))
    bench.loader.writeUsage()
    #expect(try total() == 1)
    try other.execute("ROLLBACK")
    bench.loader.writeUsage()
    #expect(try total() == 1 + SampleImage.jpeg.count + 100)
  }
}

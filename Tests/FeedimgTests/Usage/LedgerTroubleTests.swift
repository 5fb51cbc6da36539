import FeedimgModel
import FeedimgSettings
import FeedimgSystem
import FeedimgUsage
import FoundationEssentials
import Glibc
import LoopbackServer
import Testing

@testable import Feedimg

/// What a loader makes of a ledger that it cannot read or write.
@Suite final class LedgerTroubleTests: Sendable {
  let folder = FileManager.default.temporaryDirectory.path + "/feedimg-trouble-\(UUID().uuidString)"

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private var usage: String { "\(folder)/usage" }

  /// The ledger of this month, and where its file is.
  private func ledger() -> (ledger: UsageLedger, file: String) {
    let now = SystemClock.seconds()
    let ledger = UsageLedger(folder: usage) { now }
    return (ledger, "\(usage)/\(ledger.today().monthText).txt")
  }

  private func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  private func text(of file: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
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
  func `what cannot be read counts as a budget that is spent, and is said once`(_ obstacle: Obstacle) throws {
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
      obstacle == .folderAsFile ? "cannot use `\(file)`: is a directory" : "`\(file)`: not a directory"
    #expect(source?.hasPrefix("the setting cellular-budget, which counts as spent: cannot ") == true)
    #expect(source?.hasSuffix(fault) == true, "\(source ?? "")")
    #expect(warnings.count == 1 && warnings[0].hasPrefix("the cellular-budget counts as spent: cannot "))
    #expect(warnings.first?.hasSuffix(fault) == true, "\(warnings)")
    #expect(try Self.budget(bench.loader).left == "0 B" && bench.loader.warnings.isEmpty)
  }

  @Test func `who asks how a policy decides here and now is warned of it as well`() throws {
    var configuration = ImageLoader.Configuration(environment: [:])
    (configuration.configurationFolder, configuration.stateFolder) = (folder + "/config", folder)
    try SettingsStore(folder: folder + "/config").set(.cellularBudget, to: "600 MB")
    try Data().write(to: URL(filePath: usage))
    let account = try Policies(configuration).explain("budgeted", isLive: true)
    #expect(account.warnings.count == 1)
    #expect(account.warnings.first?.hasPrefix("the cellular-budget counts as spent: cannot ") == true)
    #expect(try Policies(configuration).explain("budgeted").warnings.isEmpty, "nobody looked")
  }

  @Test func `what was read before counts where it can be read no longer`() throws {
    let (ledger, file) = ledger()
    let bench = try TestLoader(.cellular, policy: "budgeted", usage: ledger)
    try bench.settings.set(.cellularBudget, to: "600 MB")
    ledger.add(ByteCount(100_000_000), transfers: 1, network: .cellular, metered: .yes)
    #expect(try Self.budget(bench.loader).left == "500 MB")
    try FileManager.default.removeItem(atPath: file)
    try makeFolder(file)
    #expect(try Self.budget(bench.loader).left == "500 MB")
    #expect(bench.loader.warnings.isEmpty)
  }

  @Test func `what a lock kept from the disk is written at the end`() async throws {
    let (ledger, file) = ledger()
    ledger.add(ByteCount(1), transfers: 1, network: .cellular, metered: .yes)
    let downloader = TestDownloader(body: SampleImage.jpeg)
    let bench = try TestLoader(.wifi, downloader: downloader, usage: ledger)
    let before = try text(of: file)
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    #expect(flock(descriptor, LOCK_EX) == 0)
    _ = try await bench.loader.load(try TestLoader.item(original: "http://pictures.example/a.jpg"))
    bench.loader.writeUsage()
    #expect(try text(of: file) == before)
    #expect(flock(descriptor, LOCK_UN) == 0)
    close(descriptor)
    // A process that another test starts may hold the lock for a moment longer.
    for _ in 0..<1000 where try text(of: file) == before { bench.loader.writeUsage() }
    #expect(try text(of: file).hasSuffix(" wifi unmetered \(SampleImage.jpeg.count + 100) 1\n"))
  }
}

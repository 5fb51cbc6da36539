import Feedimg
import FeedimgAdmin
import FeedimgSettings
import FoundationEssentials
import Testing

/// What the user is told of files that cannot be used.
@Suite final class WarningTests: Sendable {
  let folder = FileManager.default.temporaryDirectory.path + "/feedimg-warnings-\(UUID().uuidString)"

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  @Test func `the cache tells of settings that cannot be used, once`() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("{".utf8).write(to: URL(filePath: folder + "/settings.json"))
    var configuration = ImageLoader.Configuration(environment: [:])
    (configuration.cacheFolder, configuration.configurationFolder) = (folder + "/cache", folder)
    let cache = try ImageCache(configuration)
    #expect(cache.warnings.count == 1)
    #expect(cache.warnings.isEmpty)
  }

  @Test func `explaining a policy here and now warns of a ledger that cannot be read`() throws {
    var configuration = ImageLoader.Configuration(environment: [:])
    (configuration.configurationFolder, configuration.stateFolder) = (folder + "/config", folder)
    try SettingsStore(folder: folder + "/config").set(.cellularBudget, to: "600 MB")
    try Data().write(to: URL(filePath: folder + "/usage"))
    let account = try Policies(configuration).explain("budgeted", isLive: true)
    #expect(account.warnings.count == 1)
    #expect(account.warnings.first?.hasPrefix("the cellular-budget counts as spent: cannot ") == true)
    #expect(try Policies(configuration).explain("budgeted").warnings.isEmpty, "nobody looked")
  }
}

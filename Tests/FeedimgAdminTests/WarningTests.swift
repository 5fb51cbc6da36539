import Feedimg
import FeedimgAdmin
import FeedimgSettings
import FoundationEssentials
import Testing

/// The warnings about unusable files.
@Suite final class WarningTests: Sendable {
  let folder = FileManager.default.temporaryDirectory.path + "/feedimg-warnings-\(UUID().uuidString)"

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  @Test func `the cache commands warn once of unusable settings`() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("{".utf8).write(to: URL(filePath: folder + "/settings.json"))
    var configuration = ImageLoader.Configuration(environment: [:])
    (configuration.cacheFolder, configuration.configurationFolder) = (folder + "/cache", folder)
    let cache = try ImageCache(configuration)
    #expect(cache.warnings.count == 1)
    #expect(cache.warnings.isEmpty)
  }

  @Test func `explaining a policy with current facts warns of an unreadable ledger`() throws {
    var configuration = ImageLoader.Configuration(environment: [:])
    (configuration.configurationFolder, configuration.stateFolder) = (folder + "/config", folder)
    try SettingsStore(folder: folder + "/config").set(.cellularBudget, to: "600 MB")
    try Data().write(to: URL(filePath: folder + "/usage"))
    let explanation = try Policies(configuration).explain("budgeted", isLive: true)
    #expect(explanation.warnings.count == 1)
    #expect(explanation.warnings.first?.hasPrefix("the cellular-budget counts as spent: cannot ") == true)
    #expect(try Policies(configuration).explain("budgeted").warnings.isEmpty, "the ledger was not read")
  }
}

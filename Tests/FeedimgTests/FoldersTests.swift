import FoundationEssentials
import Testing

@testable import Feedimg

@Suite struct FoldersTests {
  private func folders(_ environment: [String: String], cache: String? = nil) -> Folders {
    var configuration = ImageLoader.Configuration(environment: environment)
    configuration.cacheFolder = cache
    return Folders(configuration)
  }

  @Test(arguments: [["HOME": ""], ["HOME": "ann"], [:]])
  func `without a usable HOME the home of the account stands in`(_ environment: [String: String]) throws {
    let home = try #require(ProcessEnvironment.accountHome())
    #expect(try folders(environment).configuration == home + "/.config/feedimg")
    #expect(try folders(environment).cache == home + "/.cache/feedimg")
  }

  @Test func `a folder that cannot be had does not stand in the way of the other`() throws {
    let folders = folders(["XDG_CONFIG_HOME": "/c"], cache: "")
    #expect(try folders.configuration == "/c/feedimg")
    #expect(throws: ConfigurationError.self) { try folders.cache }
  }

  @Test func `the cache tells of settings that cannot be used, once`() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/feedimg-folders-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("{".utf8).write(to: URL(filePath: folder + "/settings.json"))
    var configuration = ImageLoader.Configuration(environment: [:])
    (configuration.cacheFolder, configuration.configurationFolder) = (folder + "/cache", folder)
    let cache = try ImageCache(configuration)
    #expect(cache.warnings.count == 1)
    #expect(cache.warnings.isEmpty)
  }
}

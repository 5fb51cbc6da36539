import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct FoldersTests {
  private func folders(_ environment: [String: String], cache: String? = nil) -> Folders {
    var configuration = ImageLoader.Configuration(environment: environment)
    configuration.cacheFolder = cache
    return Folders(configuration)
  }

  @Test(arguments: [["HOME": ""], ["HOME": "ann"], [:]])
  func `without a usable HOME the home folder of the account is used`(_ environment: [String: String]) throws
  {
    let home = try #require(ProcessEnvironment.accountHome())
    #expect(try folders(environment).configuration == home + "/.config/feedimg")
    #expect(try folders(environment).cache == home + "/.cache/feedimg")
  }

  @Test func `without HOME, policies and settings come from the same folder`() throws {
    let home = try #require(ProcessEnvironment.accountHome())
    let catalog = try PolicyCatalog(ImageLoader.Configuration(environment: [:]))
    #expect(catalog.userFolder == home + "/.config/feedimg/policies")
  }

  @Test func `an unusable folder does not affect the other one`() throws {
    let folders = folders(["XDG_CONFIG_HOME": "/c"], cache: "")
    #expect(try folders.configuration == "/c/feedimg")
    #expect(throws: ConfigurationError.self) { try folders.cache }
  }
}

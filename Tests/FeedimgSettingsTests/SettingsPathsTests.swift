import Testing

@testable import FeedimgSettings

struct SettingsPathsTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var environment: [String: String]
    var home: String?
    var config: String?
    var cache: String?
  }

  static let rows = [
    Row(
      testDescription: "below the home folder without XDG variables",
      environment: ["HOME": "/home/ann"],
      config: "/home/ann/.config/feedimg",
      cache: "/home/ann/.cache/feedimg"
    ),
    Row(
      testDescription: "XDG variables take precedence over the home folder",
      environment: ["HOME": "/home/ann", "XDG_CONFIG_HOME": "/c", "XDG_CACHE_HOME": "/k/"],
      config: "/c/feedimg",
      cache: "/k/feedimg"
    ),
    Row(
      testDescription: "a relative value is ignored, as the specification says",
      environment: ["HOME": "/home/ann", "XDG_CONFIG_HOME": "conf", "XDG_CACHE_HOME": "./k"],
      config: "/home/ann/.config/feedimg",
      cache: "/home/ann/.cache/feedimg"
    ),
    Row(
      testDescription: "an empty value counts as unset",
      environment: ["HOME": "/home/ann", "XDG_CONFIG_HOME": ""],
      config: "/home/ann/.config/feedimg",
      cache: "/home/ann/.cache/feedimg"
    ),
    Row(
      testDescription: "each variable applies on its own",
      environment: ["XDG_CACHE_HOME": "/k"],
      config: nil,
      cache: "/k/feedimg"
    ),
    Row(
      testDescription: "the account's home replaces a missing HOME",
      environment: [:],
      home: "/root",
      config: "/root/.config/feedimg",
      cache: "/root/.cache/feedimg"
    ),
    Row(testDescription: "a relative home is ignored", environment: ["HOME": "ann"], config: nil, cache: nil),
    Row(
      testDescription: "the root as home gives no double slash",
      environment: ["HOME": "/"],
      config: "/.config/feedimg",
      cache: "/.cache/feedimg"
    ),
  ]

  @Test(arguments: rows)
  func `folders follow the XDG specification`(_ row: Row) {
    let paths = SettingsPaths(environment: row.environment, home: row.home)
    #expect((try? paths.configFolder) == row.config)
    #expect((try? paths.cacheFolder) == row.cache)
  }

  @Test func `usage counts have their own folder`() throws {
    #expect(
      try SettingsPaths(environment: ["HOME": "/home/ann"]).stateFolder == "/home/ann/.local/state/feedimg"
    )
    #expect(try SettingsPaths(environment: ["XDG_STATE_HOME": "/s"]).stateFolder == "/s/feedimg")
  }

  @Test func `an error without any folder names the variables to set`() {
    let error = #expect(throws: SettingsError.self) { try SettingsPaths(environment: [:]).configFolder }
    #expect(error?.code == .noFolder)
    #expect(error?.message == "neither `XDG_CONFIG_HOME` nor `HOME` is set to an absolute path")
  }
}

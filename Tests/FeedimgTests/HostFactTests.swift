import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Facts that only the application knows.
@Suite struct HostFactTests {
  private static let table = """
    | on screen | → image   |
    |-----------|-----------|
    | yes       | original  |
    | no        | thumbnail |

    """

  private func loader(
    _ folders: PolicyFolders,
    overrides: [SituationOverride] = []
  ) throws -> ImageLoader {
    try folders.write("user", "default.md", Self.table)
    var configuration = folders.configuration()
    configuration.hostFacts = [HostFact(name: "on screen", values: ["no", "yes"])]
    configuration.overrides += overrides
    return try ImageLoader(configuration)
  }

  @Test func `a policy decides by the facts that the application gives for each item`() throws {
    let folders = try PolicyFolders()
    let loader = try loader(folders)
    var (near, far) = (try PolicyFolders.item(), try PolicyFolders.item())
    (near.id, far.id) = ("near", "far")
    let resolutions = loader.resolve([near, far]) { ["on screen": $0.id == "near" ? "yes" : "no"] }
    #expect(resolutions.map(\.decision.image) == [.original, .thumbnail])
    #expect(resolutions.map(\.why) == ["on screen is yes", "on screen is no"])
    #expect(
      resolutions[0].facts.last == FactReading(name: "on screen", value: "yes", source: "the application")
    )
    #expect(loader.resolve(near, facts: ["on screen": "yes"]).decision.image == .original)
  }

  @Test func `a missing fact has its first value`() throws {
    let folders = try PolicyFolders()
    let resolution = try loader(folders).resolve(try PolicyFolders.item())
    #expect(resolution.decision.image == .thumbnail)
    #expect(
      resolution.facts.last
        == FactReading(name: "on screen", value: "no", source: "the application has set no value")
    )
  }

  @Test func `an undeclared fact is ignored and reported once`() throws {
    let folders = try PolicyFolders()
    let loader = try loader(folders)
    for _ in 0..<3 {
      let said = ["on screen": "perhaps", "age": "old"]
      #expect(loader.resolve(try PolicyFolders.item(), facts: said).decision.image == .thumbnail)
    }
    #expect(
      loader.warnings.sorted() == [
        "the fact `age` is not declared; declare it in `hostFacts`",
        "the fact `on screen` has no value `perhaps`",
      ]
    )
    #expect(loader.warnings == [])
  }

  @Test func `a fact of the application can be overridden`() throws {
    let folders = try PolicyFolders()
    let given = SituationOverride(fact: "on-screen", value: "yes", source: "--set")
    let resolution = try loader(folders, overrides: [given]).resolve(try PolicyFolders.item())
    #expect(resolution.decision.image == .original)
    #expect(resolution.facts.last?.source == "--set")
  }

  @Test(arguments: [
    (HostFact(name: "network", values: ["a", "b"]), "fact `network` already exists"),
    (HostFact(name: "age", values: ["old"]), "fact `age` needs at least two different values"),
    (HostFact(name: "On Screen", values: ["a", "b"]), "`On Screen` cannot be the name of a fact"),
  ])
  func `a fact that a table cannot spell is refused`(fact: HostFact, message: String) throws {
    let folders = try PolicyFolders()
    var configuration = folders.configuration()
    configuration.hostFacts = [fact]
    let error = #expect(throws: ConfigurationError.self) { try ImageLoader(configuration) }
    #expect(error?.description.hasPrefix(message) == true)
  }
}

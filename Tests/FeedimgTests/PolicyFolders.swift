import FoundationEssentials

@testable import Feedimg
@testable import FeedimgPipeline

/// The policy folders of an administrator and of a user, removed with the value.
final class PolicyFolders: Sendable {
  let root: String

  init() throws {
    root = FileManager.default.temporaryDirectory.path + "/feedimg-policies-\(UUID().uuidString)"
    for folder in ["system", "user"] {
      try FileManager.default.createDirectory(
        atPath: "\(root)/\(folder)/policies",
        withIntermediateDirectories: true
      )
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  /// The path of `system/policies/NAME` or `user/policies/NAME`.
  func path(_ layer: String, _ name: String) -> String { "\(root)/\(layer)/policies/\(name)" }

  /// Writes in place, as a shell does.
  func write(_ layer: String, _ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path(layer, name)))
  }

  /// Replaces the folder of a layer by one with this file alone, without an event from the watch.
  func replace(_ layer: String, _ name: String, _ text: String) throws {
    let next = "\(root)/\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: "\(next)/policies", withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: "\(next)/policies/\(name)"))
    try FileManager.default.moveItem(atPath: "\(root)/\(layer)", toPath: "\(next)-before")
    try FileManager.default.moveItem(atPath: next, toPath: "\(root)/\(layer)")
  }

  func remove(_ layer: String, _ name: String) throws {
    try FileManager.default.removeItem(atPath: path(layer, name))
  }

  func configuration(
    _ policy: ImageLoader.Configuration.Policy = .standard,
    network: String = "wifi"
  ) -> ImageLoader.Configuration {
    var configuration = ImageLoader.Configuration(environment: [:])
    configuration.cacheFolder = root + "/cache"
    configuration.configurationFolder = root + "/user"
    configuration.systemFolder = root + "/system"
    configuration.policy = policy
    configuration.overrides = [SituationOverride(fact: "network", value: network, source: "the test")]
    return configuration
  }

  /// A policy with one rule and one result.
  static func table(_ image: String) -> String { "| network | → image |\n|--|--|\n| - | \(image) |\n" }

  static func item() throws -> FeedItem {
    FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL("https://x.example/a.jpg")),
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL("https://x.example/b.jpg"))
    )
  }
}

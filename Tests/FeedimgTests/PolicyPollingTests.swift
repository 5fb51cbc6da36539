import FoundationEssentials
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// A policy whose files change between calls.
@Suite struct PolicyPollingTests {
  @Test func `a change is seen while another thread reads the policy`() async throws {
    let folders = try PolicyFolders()
    let loader = try ImageLoader(folders.configuration())
    let item = try PolicyFolders.item()
    let others = (0..<2).map { _ in
      Task.detached { while !Task.isCancelled { _ = loader.resolve(item) } }
    }
    for _ in 0..<100 {
      for image in [ShownImage.thumbnail, .placeholder, .original] {
        try folders.write("user", "default.md", PolicyFolders.table(image.rawValue))
        #expect(loader.resolve(item).decision.image == image)
      }
    }
    for other in others { other.cancel() }
    for other in others { await other.value }
  }

  @Test func `a policy applies from a folder that is created later, and through a link`() throws {
    let folders = try PolicyFolders()
    try FileManager.default.removeItem(atPath: "\(folders.root)/user/policies")
    let loader = try ImageLoader(folders.configuration())
    let item = try PolicyFolders.item()
    #expect(loader.resolve(item).decision.image == .original)
    try FileManager.default.createDirectory(
      atPath: "\(folders.root)/user/policies",
      withIntermediateDirectories: true
    )
    for image in [ShownImage.thumbnail, .placeholder, .thumbnail] {
      try folders.write("user", "default.md", PolicyFolders.table(image.rawValue))
      #expect(loader.resolve(item).decision.image == image)
    }
    // Through a link to another folder, and inside that folder.
    try folders.remove("user", "default.md")
    #expect(loader.resolve(item).decision.image == .original)
    let other = "\(folders.root)/other.md"
    try Data(PolicyFolders.table("thumbnail").utf8).write(to: URL(filePath: other))
    try FileManager.default.createSymbolicLink(
      atPath: folders.path("user", "default.md"),
      withDestinationPath: other
    )
    #expect(loader.resolve(item).decision.image == .thumbnail)
    try Data(PolicyFolders.table("placeholder").utf8).write(to: URL(filePath: other))
    #expect(loader.resolve(item).decision.image == .placeholder)
  }
}

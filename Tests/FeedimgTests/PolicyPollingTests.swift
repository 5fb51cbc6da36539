import FoundationEssentials
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// When a policy that is asked for often is looked at.
@Suite struct PolicyPollingTests {
  private func ask(
    _ polling: inout PolicyPolling,
    _ hasChanged: Bool = false,
    isSettled: Bool = true,
    isLooking: Bool = false,
    at now: Double = 10
  ) -> Bool { polling.mustLook(hasChanged, isSettled: isSettled, isLooking: isLooking, at: now) }

  @Test func `nothing is looked at twice unless something may have happened`() {
    var polling = PolicyPolling()
    #expect(ask(&polling), "nobody has looked")
    #expect(!ask(&polling))
    #expect(ask(&polling, true), "the watch says so")
    #expect(!ask(&polling))
    #expect(ask(&polling, isSettled: false), "a change might not have shown")
    #expect(!ask(&polling, at: 10.9))
    #expect(ask(&polling, at: 11), "no watch tells everything")
    #expect(ask(&polling, at: 5), "the clock was set back")
  }

  @Test func `what happens while somebody reads is looked at later`() {
    var polling = PolicyPolling()
    #expect(ask(&polling))
    #expect(!ask(&polling, true, isLooking: true))
    #expect(ask(&polling))
    polling.note()
    #expect(ask(&polling))
    #expect(!ask(&polling))
  }

  @Test func `who asks often watches`() {
    var polling = PolicyPolling()
    for number in 0..<PolicyPolling.looksBeforeWatching {
      #expect(!polling.isBusy)
      #expect(ask(&polling, at: Double(number) * 2))
    }
    #expect(polling.isBusy)
  }

  @Test func `a policy that is asked for often changes as at first`() throws {
    let folders = try PolicyFolders()
    try FileManager.default.removeItem(atPath: "\(folders.root)/user/policies")
    let loader = try ImageLoader(folders.configuration())
    let item = try PolicyFolders.item()
    for _ in 0...PolicyPolling.looksBeforeWatching {
      #expect(loader.resolve(item).decision.image == .original)
    }
    try FileManager.default.createDirectory(
      atPath: "\(folders.root)/user/policies",
      withIntermediateDirectories: true
    )
    for image in [ShownImage.thumbnail, .placeholder, .thumbnail] {
      try folders.write("user", "default.md", PolicyFolders.table(image.rawValue))
      for _ in 0..<3 { #expect(loader.resolve(item).decision.image == image) }
    }
    // By a link to another folder, and there.
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

import FoundationEssentials
import Testing

@testable import Feedimg

/// When a policy that is asked for often is looked at.
@Suite struct PolicyVigilTests {
  private func ask(
    _ vigil: inout PolicyVigil,
    _ hasChanged: Bool = false,
    isSettled: Bool = true,
    isLooking: Bool = false,
    at now: Double = 10
  ) -> Bool { vigil.mustLook(hasChanged, isSettled: isSettled, isLooking: isLooking, at: now) }

  @Test func `nothing is looked at twice unless something may have happened`() {
    var vigil = PolicyVigil()
    #expect(ask(&vigil), "nobody has looked")
    #expect(!ask(&vigil))
    #expect(ask(&vigil, true), "the watch says so")
    #expect(!ask(&vigil))
    #expect(ask(&vigil, isSettled: false), "a change might not have shown")
    #expect(!ask(&vigil, at: 10.9))
    #expect(ask(&vigil, at: 11), "no watch tells everything")
    #expect(ask(&vigil, at: 5), "the clock was set back")
  }

  @Test func `what happens while somebody reads is looked at later`() {
    var vigil = PolicyVigil()
    #expect(ask(&vigil))
    #expect(!ask(&vigil, true, isLooking: true))
    #expect(ask(&vigil))
    vigil.note()
    #expect(ask(&vigil))
    #expect(!ask(&vigil))
  }

  @Test func `who asks often watches`() {
    var vigil = PolicyVigil()
    for number in 0..<PolicyVigil.looksBeforeWatching {
      #expect(!vigil.isBusy)
      #expect(ask(&vigil, at: Double(number) * 2))
    }
    #expect(vigil.isBusy)
  }

  @Test func `a policy that is asked for often changes as at first`() throws {
    let folders = try PolicyFolders()
    try FileManager.default.removeItem(atPath: "\(folders.root)/user/policies")
    let loader = try ImageLoader(folders.configuration())
    let item = try PolicyFolders.item()
    for _ in 0...PolicyVigil.looksBeforeWatching { #expect(loader.resolve(item).decision.image == .original) }
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

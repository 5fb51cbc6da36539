import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct SlotStateTests {
  private func item(_ name: String) throws -> FeedItem {
    FeedItem(
      id: name,
      original: ImageVariant(role: .original, url: try ImageURL("http://x.example/\(name)")),
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL("http://x.example/\(name)-small"))
    )
  }

  private func image(
    _ item: FeedItem,
    _ role: ImageVariant.Role,
    bytes: [UInt8] = [1],
    side: Int? = nil
  ) throws -> Presentation.Content {
    let situation = Situation(network: .wifi, original: .remote, thumbnail: .remote)
    let resolution = Resolution(
      item: item,
      situation: situation,
      decision: Decision(ceiling: .original, in: situation, rule: 1),
      policy: "test",
      place: "",
      why: "",
      facts: []
    )
    var image = LoadedImage(
      variant: try #require(item[role]),
      source: .network,
      resolution: resolution,
      bytes: bytes,
      mediaType: "image/jpeg",
      path: nil
    )
    image.bitmap = try side.map { try bitmap($0) }
    return .image(image)
  }

  /// Behaviour 17.
  @Test func `no worse image replaces a better one for the same binding`() throws {
    var state = SlotState()
    let item = try item("a")
    let binding = state.bind(Presentation(item: item))
    let original = try image(item, .original)
    for (content, expected) in [
      (try image(item, .thumbnail), ShownImage.thumbnail), (original, .original),
      (try image(item, .thumbnail), .original), (.placeholder(item.placeholder), .original),
    ] {
      state.update(binding) { $0.content = content }
      #expect(state.latest?.shown == expected)
    }
    let renewed = try image(item, .original, bytes: [2])
    state.update(binding) { $0.content = renewed }
    #expect(state.latest?.image?.bytes == [2], "a new version of equal quality is not worse")
  }

  @Test func `a kept image belongs to the latest item, with all details of its feed`() throws {
    var state = SlotState()
    var item = try item("a")
    let binding = state.bind(Presentation(item: item))
    let original = try image(item, .original)
    state.update(binding) { $0.content = original }
    item.alternativeText = "a cat"
    _ = state.bind(Presentation(item: item))
    #expect(state.latest?.image?.bytes == [1])
    #expect(state.latest?.image?.resolution.item == item && state.latest?.resolution?.item == item)
  }

  static let scans: [(ImageVariant.Role, Int, ImageVariant.Role, Int, Bool, String)] = [
    (.thumbnail, 8, .original, 9, true, "more of its pixels are final"),
    (.thumbnail, 8, .original, 8, false, "equally sharp, and the thumbnail is complete"),
    (.thumbnail, 8, .thumbnail, 9, false, "of the same image, the complete one is better"),
    (.original, 8, .original, 9, false, "nothing is better than the original"),
  ]

  @Test(arguments: scans)
  func `a scan replaces only a thumbnail with fewer pixels, in either order`(
    _ shown: ImageVariant.Role,
    _ shownSide: Int,
    _ arriving: ImageVariant.Role,
    _ knownSide: Int,
    _ isDrawn: Bool,
    _ why: String
  ) throws {
    let item = try item("a")
    let content = try image(item, shown, side: shownSide)
    let scan = ImageScan(
      variant: try #require(item[arriving]),
      bitmap: try bitmap(16),
      detail: PixelSize(width: knownSide, height: knownSide),
      length: 1
    )
    for isFirst in [true, false] {
      var state = SlotState()
      let binding = state.bind(Presentation(item: item))
      if isFirst { state.update(binding) { $0.scan = scan } }
      #expect(state.latest?.scan == (isFirst ? scan : nil), "better than any placeholder")
      state.update(binding) { $0.content = content }
      if !isFirst { state.update(binding) { $0.scan = scan } }
      #expect(state.latest?.scan == (isDrawn ? scan : nil), "\(why)")
      #expect(state.latest?.pixels?.size.width == (isDrawn ? 16 : shownSide), "\(why)")
    }
  }

  @Test func `only a sharper scan replaces a scan`() throws {
    let item = try item("a")
    let variant = try #require(item.original)
    func scan(_ side: Int, _ number: Int) throws -> ImageScan {
      let detail = PixelSize(width: side, height: side)
      return ImageScan(variant: variant, bitmap: try bitmap(16), detail: detail, length: number)
    }
    var state = SlotState()
    let binding = state.bind(Presentation(item: item))
    for (side, number, expected) in [(4, 1, 1), (4, 2, 2), (2, 3, 2), (4, 1, 2), (8, 1, 1)] {
      let next = try scan(side, number)
      state.update(binding) { $0.scan = next }
      #expect(state.latest?.scan?.length == expected)
    }
    state.update(binding) { $0.scan = nil }
    #expect(state.latest?.scan != nil, "a missing image is not better")
  }

  private func bitmap(_ side: Int) throws -> Bitmap {
    let size = PixelSize(width: side, height: side)
    let bytes = [UInt8](repeating: 9, count: side * side * 4)
    return try #require(Bitmap(size: size, format: .rgba, isOpaque: false, bytes: bytes))
  }

  @Test func `results for an earlier binding are refused`() throws {
    var state = SlotState()
    let (first, second) = (try item("a"), try item("b"))
    let old = state.bind(Presentation(item: first))
    let new = state.bind(Presentation(item: second))
    let version = state.version
    let content = try image(first, .original)
    state.update(old) { $0.content = content }
    #expect(state.latest?.item.id == "b")
    #expect(state.version == version)
    #expect(state.renew(old) == nil)
    #expect(state.renew(new) != nil)
  }

  @Test func `late results of a finished attempt are refused`() throws {
    var state = SlotState()
    let first = state.bind(Presentation(item: try item("a")))
    let (one, two) = (state.renew(first), state.renew(first))
    let (attempt, next) = (try #require(one), try #require(two))
    state.update(attempt) { $0.isLoading = false }
    #expect(state.latest?.isLoading == true)
    state.update(next) { $0.isLoading = false }
    #expect(state.latest?.isLoading == false)
  }

  @Test func `a new binding keeps only its own image, and equal state changes nothing`() throws {
    var state = SlotState()
    let item = try item("a")
    let binding = state.bind(Presentation(item: item))
    let content = try image(item, .original)
    state.update(binding) { $0.content = content }
    let version = state.version
    state.update(binding) { $0.content = content }
    #expect(state.version == version)
    let (_, again) = (state.bind(Presentation(item: item)), state.latest)
    #expect(again?.content == content && again?.isLoading == true)
    _ = state.bind(Presentation(item: try self.item("b")))
    #expect(state.latest?.shown == .placeholder)
    state.clear()
    #expect(state.latest == nil)
    state.update(binding) { $0.content = content }
    #expect(state.latest == nil)
  }

  @Test(arguments: [
    (Upgrade.never, true, NetworkKind.wifi, Metered.no, false, "the table says never"),
    (.never, false, .wifi, .no, true, "the table says nothing"),
    (.online, true, .cellular, .yes, true, ""), (.online, true, .offline, .no, false, ""),
    (.wifi, true, .ethernet, .yes, true, "Ethernet is as good"), (.wifi, true, .cellular, .no, false, ""),
    (.unmetered, true, .wifi, .no, true, ""),
    (.unmetered, true, .wifi, .unknown, false, "unknown metering is not unmetered"),
    (.home, true, .cellular, .yes, true, ""), (.onTap, true, .wifi, .no, false, "nobody tapped"),
  ])
  func `an upgrade waits for the event that the table names`(
    upgrade: Upgrade,
    tableNamesEvents: Bool,
    network: NetworkKind,
    metered: Metered,
    expected: Bool,
    why: String
  ) {
    let situation = Situation(network: network, metered: metered, original: .remote, thumbnail: .cached)
    #expect(
      UpgradeRule.allows(upgrade, tableNamesEvents: tableNamesEvents, in: situation) == expected,
      "\(why)"
    )
  }
}

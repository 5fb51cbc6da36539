import FeedimgModel
import FeedimgPolicy
import Testing

/// Which of several files decides, at the start and as they change.
struct PolicyInForceTests {
  private typealias File = PolicyInForce.File

  private static func file(_ layer: PolicyInForce.Layer, _ image: String) -> File {
    File(layer: layer, path: "\(layer.rawValue)/x.md", text: Array("| → image |\n|--|\n| \(image) |\n".utf8))
  }

  private let builtIn = file(.builtIn, "original")
  private let system = file(.system, "thumbnail")
  private let user = file(.user, "cached")
  private let broken = file(.user, "nonsense")
  private let gap = File(
    layer: .user,
    path: "user/x.md",
    text: Array("| network | → image |\n|--|--|\n| wifi | cached |\n".utf8)
  )
  private let unreached = File(
    layer: .user,
    path: "user/x.md",
    text: Array("| → image |\n|--|\n| cached |\n| original |\n".utf8)
  )

  @Test func `the user's file counts for more than the system's, and that for more than what is built in`()
    throws
  {
    #expect(try PolicyInForce([builtIn]).file == builtIn)
    #expect(try PolicyInForce([builtIn, system]).file == system)
    let inForce = try PolicyInForce([system, user, builtIn])
    #expect(inForce.file == user)
    #expect(inForce.policy.place(ofRule: 1) == "user/x.md:3")
    #expect(inForce.shadowed == [system, builtIn])
    #expect(inForce.refusals.isEmpty)
  }

  @Test func `at the start a file that does not check gives way to the next, and the reason is kept`() throws
  {
    for bad in [broken, gap, unreached] {
      let inForce = try PolicyInForce([builtIn, bad, system])
      #expect(inForce.file == system)
      #expect(inForce.refusals.map(\.file) == [bad])
      #expect(inForce.refusals.first?.errors.errors.isEmpty == false)
    }
    #expect(throws: PolicyErrors.self) { try PolicyInForce([broken]) }
    #expect(throws: PolicyErrors.self) { try PolicyInForce([]) }
  }

  @Test func `a file that breaks while it is in force leaves the old policy in force`() throws {
    var inForce = try PolicyInForce([builtIn, user])
    let before = inForce.file
    for bad in [broken, gap, unreached] {
      let hasChanged = inForce.reload([builtIn, system, bad])
      #expect(!hasChanged)
      #expect(inForce.file == before)
      #expect(inForce.policy.table.rules[0].outcome.image == .cached)
      #expect(inForce.refusals.map(\.file) == [bad])
    }
    #expect(
      inForce.refusals.first?.errors.description == "user/x.md:4: rule 2 is never reached: covered by rule 1"
    )
  }

  @Test func `a file that is mended, appears or goes changes what is in force`() throws {
    var inForce = try PolicyInForce([builtIn, broken])
    let isMended = inForce.reload([builtIn, user])
    #expect(isMended)
    #expect(inForce.file == user)
    #expect(inForce.refusals.isEmpty)
    let isDisplaced = inForce.reload([builtIn, user, system])
    #expect(!isDisplaced)
    #expect(inForce.shadowed == [system, builtIn])
    let isUserGone = inForce.reload([builtIn, system])
    #expect(isUserGone)
    #expect(inForce.file == system)
    let isSystemGone = inForce.reload([builtIn])
    #expect(isSystemGone)
    #expect(inForce.policy.table.rules[0].outcome.image == .original)
  }

  @Test func `a broken file of a higher layer does not displace a good one below`() throws {
    var inForce = try PolicyInForce([builtIn, system])
    let isDisplaced = inForce.reload([builtIn, system, broken])
    #expect(!isDisplaced)
    #expect(inForce.file == system)
    #expect(inForce.refusals.map(\.file) == [broken])
    // The system's file goes too: the built-in one must not be missed behind the broken one.
    let isGone = inForce.reload([builtIn, broken])
    #expect(!isGone)
    #expect(inForce.file == system)
  }
}

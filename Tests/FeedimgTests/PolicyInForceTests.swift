import FoundationEssentials
import Glibc
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Which policy applies: a built-in one, the administrator's or the user's.
@Suite(.timeLimit(.minutes(10))) struct PolicyInForceTests {
  private static let slip = "| network | → image |\n|--|--|\n| wifi | original |\n"

  struct Row: CustomTestStringConvertible {
    var name: String
    /// The layer, the file and the text.
    var files: [(String, String, String)]
    var policy = ImageLoader.Configuration.Policy.standard
    var image: ShownImage
    var layer: PolicyLayer
    /// The ends of the refused paths.
    var refused: [String] = []

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "there is no other policy file", files: [], image: .original, layer: .builtIn),
    Row(
      name: "the administrator's replaces the built-in policy",
      files: [("system", "default.md", PolicyFolders.table("thumbnail"))],
      image: .thumbnail,
      layer: .system
    ),
    Row(
      name: "the user's replaces both",
      files: [
        ("system", "default.md", PolicyFolders.table("thumbnail")),
        ("user", "default.md", PolicyFolders.table("placeholder")),
      ],
      image: .placeholder,
      layer: .user
    ),
    Row(
      name: "the JSON form counts too",
      files: [("user", "default.json", #"{"rules": [{"image": "thumbnail"}]}"#)],
      image: .thumbnail,
      layer: .user
    ),
    Row(
      name: "in one folder the Markdown file takes precedence",
      files: [
        ("user", "default.json", #"{"rules": [{"image": "thumbnail"}]}"#),
        ("user", "default.md", PolicyFolders.table("placeholder")),
      ],
      image: .placeholder,
      layer: .user
    ),
    Row(
      name: "a table with a gap is refused, and the next layer applies",
      files: [
        ("system", "default.md", PolicyFolders.table("thumbnail")), ("user", "default.md", slip),
      ],
      image: .thumbnail,
      layer: .system,
      refused: ["user/policies/default.md"]
    ),
    Row(
      name: "a table that breaks its promise is refused",
      files: [
        (
          "user", "default.md",
          PolicyFolders.table("thumbnail") + "\n## Promises\n| network | → load |\n|--|--|\n| - | nothing |\n"
        )
      ],
      image: .original,
      layer: .builtIn,
      refused: ["user/policies/default.md"]
    ),
    Row(
      name: "a file with another name does not count",
      files: [("user", "thrifty.md", PolicyFolders.table("thumbnail"))],
      image: .original,
      layer: .builtIn
    ),
    Row(
      name: "unless the caller names it",
      files: [("user", "thrifty.md", PolicyFolders.table("thumbnail"))],
      policy: .named("thrifty"),
      image: .thumbnail,
      layer: .user
    ),
    Row(
      name: "any built-in policy can be replaced",
      files: [("system", "always-original.md", PolicyFolders.table("placeholder"))],
      policy: .named("always-original"),
      image: .placeholder,
      layer: .system
    ),
  ]

  @Test(arguments: rows)
  func `the last folder with a valid policy wins`(row: Row) throws {
    let folders = try PolicyFolders()
    for (layer, name, text) in row.files { try folders.write(layer, name, text) }
    let loader = try ImageLoader(folders.configuration(row.policy))
    #expect(loader.resolve(try PolicyFolders.item()).decision.image == row.image)
    let standing = loader.policyInForce
    #expect(standing.layer == row.layer)
    #expect(
      standing.refused.compactMap { $0.path?.dropFirst(folders.root.count + 1) }
        == row.refused.map { $0[...] }
    )
    #expect(loader.warnings.count == row.refused.count)
  }

  @Test func `listeners hear of a new policy, whichever call read it`() throws {
    let folders = try PolicyFolders()
    let policy = try PolicyInForce(.standard, on: PolicyCatalog(folders.configuration()))
    let told = RecordedValues<Bool>()
    policy.listen { told.add(true) }
    _ = policy.current()
    #expect(told.all.isEmpty)
    try folders.write("user", "default.md", PolicyFolders.table("thumbnail"))
    _ = policy.current()
    _ = policy.current()
    #expect(told.all.count == 1)
  }

  @Test func `fact listeners hear of a policy change that another call found without a file event`()
    async throws
  {
    let folders = try PolicyFolders()
    let policy = try PolicyInForce(.standard, on: PolicyCatalog(folders.configuration()))
    let test = try TestLoader()
    let told = RecordedValues<Bool>()
    _ = await test.loader.resources.factMonitor.listen(priority: { .visible }, { told.add(true) })
    await test.loader.resources.factMonitor.watchPolicy(policy)
    // The first read may happen after the first change.
    for (count, image) in ["thumbnail", "placeholder", "thumbnail", "placeholder"].enumerated() {
      try folders.replace("user", "default.md", PolicyFolders.table(image))
      while told.all.count <= count {
        _ = policy.current()
        await Task.yield()
      }
    }
  }

  @Test func `a policy file is followed, and its last valid version stays in force`() throws {
    let folders = try PolicyFolders()
    let loader = try ImageLoader(folders.configuration())
    let item = try PolicyFolders.item()
    func image() -> ShownImage { loader.resolve(item).decision.image }
    #expect(image() == .original)

    try folders.write("user", "default.md", PolicyFolders.table("thumbnail"))
    #expect(image() == .thumbnail)
    #expect(loader.warnings == [])

    try folders.write("user", "default.md", Self.slip)
    #expect(image() == .thumbnail, "the old version stays in force")
    #expect(image() == .thumbnail)
    let path = folders.path("user", "default.md")
    let reason = "\(path): no rule for: network ethernet/cellular/other/offline (36 states)"
    #expect(loader.warnings == ["\(reason); the earlier version stays in force"])
    #expect(loader.warnings == [], "told once")
    #expect(loader.policyInForce.isEarlier)
    #expect(loader.policyInForce.refused.map(\.reasons) == [[reason]])

    try folders.write("user", "default.md", PolicyFolders.table("placeholder"))
    #expect(image() == .placeholder)
    #expect(!loader.policyInForce.isEarlier)

    try folders.remove("user", "default.md")
    #expect(image() == .original)
    #expect(loader.policyInForce.layer == .builtIn)
  }

  @Test func `a change right after another one of the same length is noticed`() throws {
    let folders = try PolicyFolders()
    try folders.write("user", "default.md", PolicyFolders.table("original "))
    let loader = try ImageLoader(folders.configuration())
    let item = try PolicyFolders.item()
    for image in [ShownImage.thumbnail, .original, .thumbnail, .original, .thumbnail] {
      let word = image == .original ? "original " : "thumbnail"
      try folders.write("user", "default.md", PolicyFolders.table(word))
      #expect(loader.resolve(item).decision.image == image)
    }
  }

  @Test func `a policy file given by path is followed too`() throws {
    let folders = try PolicyFolders()
    try folders.write("user", "mine.md", PolicyFolders.table("thumbnail"))
    let path = folders.path("user", "mine.md")
    let loader = try ImageLoader(folders.configuration(.named(path)))
    let item = try PolicyFolders.item()
    #expect(loader.resolve(item).policy == "mine")
    #expect(loader.policyInForce.layer == .given)
    try folders.write("user", "mine.md", PolicyFolders.table("placeholder"))
    #expect(loader.resolve(item).decision.image == .placeholder)
    try folders.remove("user", "mine.md")
    #expect(loader.resolve(item).decision.image == .placeholder, "a missing file is not valid")
    #expect(
      loader.warnings == [
        "\(path): cannot be read: no such file or directory; the earlier version stays in force"
      ]
    )
  }

  @Test func `a policy that was chosen by name and then deleted stays in force`() throws {
    let folders = try PolicyFolders()
    try folders.write("system", "thrifty.md", PolicyFolders.table("thumbnail"))
    let loader = try ImageLoader(folders.configuration(.named("thrifty")))
    let item = try PolicyFolders.item()
    #expect(loader.resolve(item).decision.image == .thumbnail)
    try folders.remove("system", "thrifty.md")
    #expect(loader.resolve(item).decision.image == .thumbnail)
    let path = folders.path("system", "thrifty.md")
    #expect(loader.warnings == ["\(path): was removed; the earlier version stays in force"])
    #expect(loader.policyInForce.isEarlier)
    try folders.write("user", "thrifty.md", PolicyFolders.table("placeholder"))
    #expect(loader.resolve(item).decision.image == .placeholder)
  }

  @Test func `a pipe in a policy folder is refused without waiting for it`() throws {
    let folders = try PolicyFolders()
    #expect(mkfifo(folders.path("user", "default.md"), 0o600) == 0)
    let loader = try ImageLoader(folders.configuration())
    #expect(loader.policyInForce.layer == .builtIn)
    #expect(loader.warnings.count == 1)
  }

  @Test(arguments: [
    ("defualt", "there is neither a policy nor a file `defualt`; did you mean `default`?"),
    ("zebra", "there is neither a policy nor a file `zebra`; run `feedimg policy list` for all names"),
    ("gone.md", "gone.md: cannot be read: no such file or directory"),
    ("./default", "./default: cannot be read: no such file or directory"),
    ("/", "/: cannot be read: is a directory"),
  ])
  func `a missing policy is refused when the loader is created`(name: String, message: String) throws {
    let folders = try PolicyFolders()
    let error = #expect(throws: ConfigurationError.self) {
      try ImageLoader(folders.configuration(.named(name)))
    }
    #expect(error?.messages == [message])
  }
}

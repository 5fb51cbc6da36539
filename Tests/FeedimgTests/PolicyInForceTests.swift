import FoundationEssentials
import Glibc
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Which table decides, of those that come with feedimg, of an administrator and of a user.
@Suite(.timeLimit(.minutes(10))) struct PolicyInForceTests {
  private static let slip = "| network | → image |\n|--|--|\n| wifi | original |\n"

  struct Row: CustomTestStringConvertible {
    var name: String
    /// Layer, file and text.
    var files: [(String, String, String)]
    var policy = ImageLoader.Configuration.Policy.standard
    var image: ShownImage
    var layer: PolicyLayer
    /// What is refused, by the ends of the paths.
    var refused: [String] = []

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "nobody has written one", files: [], image: .original, layer: .builtIn),
    Row(
      name: "the administrator's replaces the built-in one",
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
      name: "the machine form counts too",
      files: [("user", "default.json", #"{"rules": [{"image": "thumbnail"}]}"#)],
      image: .thumbnail,
      layer: .user
    ),
    Row(
      name: "in one folder Markdown goes first",
      files: [
        ("user", "default.json", #"{"rules": [{"image": "thumbnail"}]}"#),
        ("user", "default.md", PolicyFolders.table("placeholder")),
      ],
      image: .placeholder,
      layer: .user
    ),
    Row(
      name: "one that leaves a gap is refused, the next below counts",
      files: [
        ("system", "default.md", PolicyFolders.table("thumbnail")), ("user", "default.md", slip),
      ],
      image: .thumbnail,
      layer: .system,
      refused: ["user/policies/default.md"]
    ),
    Row(
      name: "one that breaks its promise is refused",
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
      name: "no file of another name counts",
      files: [("user", "thrifty.md", PolicyFolders.table("thumbnail"))],
      image: .original,
      layer: .builtIn
    ),
    Row(
      name: "unless it is asked for",
      files: [("user", "thrifty.md", PolicyFolders.table("thumbnail"))],
      policy: .named("thrifty"),
      image: .thumbnail,
      layer: .user
    ),
    Row(
      name: "another built-in one can be replaced as well",
      files: [("system", "always-original.md", PolicyFolders.table("placeholder"))],
      policy: .named("always-original"),
      image: .placeholder,
      layer: .system
    ),
  ]

  @Test(arguments: rows)
  func `the last folder that holds a policy in order has it`(row: Row) throws {
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

  @Test func `who listens is told of another policy, whoever read it`() throws {
    let folders = try PolicyFolders()
    let policy = try PolicyInForce(.standard, on: PolicyShelf(folders.configuration()))
    let told = Gathered<Bool>()
    policy.listen { told.add(true) }
    _ = policy.current()
    #expect(told.all.isEmpty)
    try folders.write("user", "default.md", PolicyFolders.table("thumbnail"))
    _ = policy.current()
    _ = policy.current()
    #expect(told.all.count == 1)
  }

  @Test func `who watches facts is told of a policy that another one found, though no file tells`()
    async throws
  {
    let folders = try PolicyFolders()
    let policy = try PolicyInForce(.standard, on: PolicyShelf(folders.configuration()))
    let test = try TestLoader()
    let told = Gathered<Bool>()
    _ = await test.loader.facts.listen(priority: { .visible }, { told.add(true) })
    await test.loader.facts.watchPolicy(policy)
    // The files are looked at once at first, perhaps after the first change.
    for (count, image) in ["thumbnail", "placeholder", "thumbnail", "placeholder"].enumerated() {
      try folders.replace("user", "default.md", PolicyFolders.table(image))
      while told.all.count <= count {
        _ = policy.current()
        await Task.yield()
      }
    }
  }

  @Test func `a file is followed as it changes, and the last version in order stays`() throws {
    let folders = try PolicyFolders()
    let loader = try ImageLoader(folders.configuration())
    let item = try PolicyFolders.item()
    func image() -> ShownImage { loader.resolve(item).decision.image }
    #expect(image() == .original)

    try folders.write("user", "default.md", PolicyFolders.table("thumbnail"))
    #expect(image() == .thumbnail)
    #expect(loader.warnings == [])

    try folders.write("user", "default.md", Self.slip)
    #expect(image() == .thumbnail, "the old one stays")
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

  @Test func `a change right after another of the same length is seen`() throws {
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

  @Test func `a file that was given is followed too`() throws {
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
    #expect(loader.resolve(item).decision.image == .placeholder, "gone is not in order")
    #expect(
      loader.warnings == [
        "\(path): cannot be read: no such file or directory; the earlier version stays in force"
      ]
    )
  }

  @Test func `a policy that was asked for by name and is gone stays`() throws {
    let folders = try PolicyFolders()
    try folders.write("system", "thrifty.md", PolicyFolders.table("thumbnail"))
    let loader = try ImageLoader(folders.configuration(.named("thrifty")))
    let item = try PolicyFolders.item()
    #expect(loader.resolve(item).decision.image == .thumbnail)
    try folders.remove("system", "thrifty.md")
    #expect(loader.resolve(item).decision.image == .thumbnail)
    let path = folders.path("system", "thrifty.md")
    #expect(loader.warnings == ["\(path): is gone; the earlier version stays in force"])
    #expect(loader.policyInForce.isEarlier)
    try folders.write("user", "thrifty.md", PolicyFolders.table("placeholder"))
    #expect(loader.resolve(item).decision.image == .placeholder)
  }

  @Test func `a pipe in a folder is refused and not waited for`() throws {
    let folders = try PolicyFolders()
    #expect(mkfifo(folders.path("user", "default.md"), 0o600) == 0)
    let loader = try ImageLoader(folders.configuration())
    #expect(loader.policyInForce.layer == .builtIn)
    #expect(loader.warnings.count == 1)
  }

  @Test(arguments: [
    ("defualt", "there is neither a policy nor a file `defualt`; did you mean `default`?"),
    ("zebra", "there is neither a policy nor a file `zebra`; `feedimg policy list` names all"),
    ("gone.md", "gone.md: cannot be read: no such file or directory"),
    ("./default", "./default: cannot be read: no such file or directory"),
    ("/", "/: cannot be read: is a directory"),
  ])
  func `a policy that is not there is refused when the loader is made`(name: String, message: String) throws {
    let folders = try PolicyFolders()
    let error = #expect(throws: ConfigurationError.self) {
      try ImageLoader(folders.configuration(.named(name)))
    }
    #expect(error?.messages == [message])
  }
}

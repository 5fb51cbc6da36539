import Testing

/// Systems that hide `/proc`, as some sandboxes do.
@Suite struct HiddenProcTests {
  /// Whether this system lets the tests hide it.
  static let isPermitted: Bool = {
    guard let folder = try? TestFolder() else { return false }
    return (try? run("true", in: folder))?.status == 0
  }()

  /// Runs a shell script without `/proc`.
  ///
  /// `$feedimg` is the program.
  private static func run(_ script: String, in folder: TestFolder) throws -> CommandRun {
    try CommandRun(
      of: "/usr/bin/unshare",
      ["--mount", "sh", "-euc", "mount -t tmpfs none /proc; \(script)"],
      in: folder,
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "feedimg": CommandRun.program]
    )
  }

  @Test(
    .enabled(if: isPermitted, "this system refuses mount namespaces"),
    arguments: [
      ("network --json", #"{"kind":"#), ("doctor", "libcurl"), ("settings list", "cache-expiry-days"),
      ("cache info", "originals"), ("policy list", "default"),
      ("resolve --json --network wifi item.json", #""image":"original""#), ("--version", "0.1"),
    ]
  )
  func `most commands work`(arguments: String, says: String) throws {
    let folder = try TestFolder()
    try folder.write("item.json", ResolveTests.item)
    let run = try Self.run("exec $feedimg \(arguments)", in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains(says), "\(run.output)")
    #expect(!run.output.hasPrefix("OVERVIEW"))
  }

  @Test(
    .enabled(if: isPermitted, "this system refuses mount namespaces"),
    arguments: ["load item.json", "prefetch item.json", "settings watch", "serve --socket serve.sock"]
  )
  func `commands that need tasks report that they need /proc`(arguments: String) throws {
    let folder = try TestFolder()
    try folder.write("item.json", ResolveTests.item)
    let run = try Self.run("exec $feedimg \(arguments)", in: folder)
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("feedimg: this command needs /proc"), "\(run.errors)")
    #expect(run.output == "")
  }

  @Test(.enabled(if: isPermitted, "this system refuses mount namespaces"))
  func `an invalid option is refused`() throws {
    let run = try Self.run("exec $feedimg network --colour", in: try TestFolder())
    #expect(run.status == 2)
    #expect(run.errors.contains("--colour"), "\(run.errors)")
  }
}

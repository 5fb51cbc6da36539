import FeedimgJSON
import Testing

/// The command on a system that hides the network state.
@Suite(
  .enabled(if: NamespaceRun.isPermitted, "this system refuses network namespaces"),
  .timeLimit(.minutes(10))
)
struct NetworkTroubleTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test(arguments: [true, false])
  func `without netlink the kind is other, and a connection attempt tells whether there is a route`(
    _ hasRoute: Bool
  ) throws {
    let script = (hasRoute ? NamespaceRun.cable : "") + "$unlinked $feedimg network --json"
    let run = try NamespaceRun.run(script, in: folder)
    #expect((run.status, run.errors) == (0, ""))
    let state = try #require(try run.objects.first)
    #expect((state["kind"], state["metered"], state["reachable"]) == ("other", "unknown", .bool(hasRoute)))
    #expect(state["reason"] == "the system refuses netlink, so routes are unknown")
  }

  @Test func `without netlink the network counts as metered, never as offline`() throws {
    try folder.write(
      "item.json",
      #"{"originalImage": "https://x.example/a.jpg", "thumbnailImage": "https://x.example/b.jpg"}"#
    )
    let run = try NamespaceRun.run(
      #"$unlinked $feedimg resolve --item "$HOME/item.json" --json"#,
      in: folder
    )
    #expect(run.status == 0)
    #expect(try run.objects.first?["image"] == "thumbnail")
    #expect(try run.objects.first?["source"] == "network")
  }

  @Test func `without netlink a watch continues, and connection attempts detect that the route is gone`()
    throws
  {
    let script =
      NamespaceRun.cable + """
        mkfifo "$HOME/lines"
        $unlinked $feedimg network --watch --json >"$HOME/lines" & watcher=$!
        exec 3<"$HOME/lines"
        read -r line <&3; echo "$line"
        ip route del default
        read -r line <&3; echo "$line"
        kill -9 $watcher
        """
    let run = try NamespaceRun.run(script, in: folder)
    #expect(try run.objects.map { $0["kind"] } == ["other", "other"])
    #expect(try run.objects.map { $0["reachable"] } == [.bool(true), .bool(false)])
  }

  @Test func `without netlink the doctor says so, and that feedimg works`() throws {
    let run = try NamespaceRun.run("$unlinked $feedimg doctor", in: folder)
    #expect(run.status == 0)
    #expect(
      run.output.contains("no       netlink         the kernel reports no routes and links (error 1)")
    )
    #expect(run.output.contains("feedimg reads the network every 5 seconds"))
  }

  @Test(arguments: [100, 20, 8, 5])
  func `with few free descriptors the command works or says why not`(_ most: Int) throws {
    let script = NamespaceRun.cable + "ulimit -n \(most); $feedimg network --json"
    let run = try NamespaceRun.run(script, in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try run.objects.first?["kind"] != "offline")
  }
}

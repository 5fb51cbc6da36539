import FeedimgJSON
import Testing

/// The user's marks on networks, and their effects.
struct NetworkMarkTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func marks() throws -> [String] {
    try CommandRun(["network", "marks"], in: folder).output.split(separator: "\n").map(String.init)
  }

  @Test func `networks are marked by name, listed and forgotten`() throws {
    #expect(try marks().isEmpty)
    let marking = try CommandRun(["network", "mark", "metered", "--ssid", "Ada's phone"], in: folder)
    #expect((marking.status, marking.output) == (0, "ssid:Ada's phone: metered\n"))
    #expect(try CommandRun(["network", "mark", "unmetered", "--device", "usb0"], in: folder).status == 0)
    #expect(try marks() == ["unmetered  device:usb0", "metered    ssid:Ada's phone"])
    let lines = try CommandRun(["network", "marks", "--json"], in: folder).objects
    #expect(lines.map { $0["network"] } == ["device:usb0", "ssid:Ada's phone"])
    #expect(lines.map { $0["metered"] } == ["no", "yes"])
    #expect(try CommandRun(["network", "mark", "forget", "--device", "usb0"], in: folder).status == 0)
    #expect(try marks() == ["metered    ssid:Ada's phone"])
  }

  static let refusals: [(arguments: [String], status: Int32, message: String)] = [
    (["forget", "--ssid", "Home"], 1, "feedimg: `ssid:Home` is not marked\n"),
    (
      ["metered", "--ssid", "a", "--device", "b"], 2,
      "feedimg: expected either `--ssid` or `--device`, found both\n"
    ),
    (["metered", "--ssid", ""], 2, "feedimg: expected the name of a network, found nothing\n"),
  ]

  @Test(arguments: refusals)
  func `an invalid mark is reported`(_ arguments: [String], _ status: Int32, _ message: String) throws {
    let run = try CommandRun(["network", "mark"] + arguments, in: folder)
    #expect((run.status, run.errors) == (status, message))
    #expect(folder.files(below: "config").isEmpty)
  }

  static let strayFlags: [(arguments: [String], message: String)] = [
    (["--watch", "marks"], "feedimg: `--watch` cannot be used with `marks`\n"),
    (["marks", "--watch"], "feedimg: `--watch` cannot be used with `marks`\n"),
    (["-w", "mark", "metered", "--ssid", "a"], "feedimg: `--watch` cannot be used with `mark`\n"),
    (
      ["--json", "mark", "metered", "--ssid", "a"],
      "feedimg: `--json` cannot be used with `mark`\n"
    ),
  ]

  @Test(arguments: strayFlags)
  func `a flag without meaning for a verb is refused`(_ arguments: [String], _ message: String) throws {
    let run = try CommandRun(["network"] + arguments, in: folder)
    #expect((run.status, run.output, run.errors) == (2, "", message))
    #expect(folder.files(below: "config").isEmpty)
  }

  @Test func `an invalid word is refused`() throws {
    let run = try CommandRun(["network", "mark", "cheap"], in: folder)
    #expect(run.status == 2)
    #expect(run.errors.contains("'metered', 'unmetered' or 'forget'"))
  }

  @Test func `an invalid mark in the file is reported with its line and ignored`() throws {
    let path = try folder.write(
      "config/feedimg/settings.json",
      "{\n  \"networks\": {\n    \"ssid:a\": \"metred\",\n    \"ssid:b\": \"metered\"\n  }\n}\n"
    )
    let run = try CommandRun(["network", "marks"], in: folder)
    #expect(run.output == "metered    ssid:b\n")
    let message =
      "\(path):3: the network `ssid:a` takes `metered` or `unmetered`, not `metred`; did you mean `metered`?"
    #expect(run.errors == "feedimg: \(message)\n")
  }

  @Test(.enabled(if: NamespaceRun.isPermitted, "this system refuses network namespaces"))
  func `a mark on the active network changes decisions`() throws {
    try folder.write(
      "item.json",
      #"{"originalImage": "https://x.example/a.jpg", "thumbnailImage": "https://x.example/b.jpg"}"#
    )
    let script =
      NamespaceRun.cable + """
        for word in metered unmetered forget; do
          $feedimg network mark $word
          $feedimg network --json
          $feedimg resolve --item "$HOME/item.json" --policy metered --json
        done
        """
    let run = try NamespaceRun.run(script, in: folder)
    #expect((run.status, run.errors) == (0, ""))
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(
      lines.filter { !$0.hasPrefix("{") }
        == ["device:v0: metered", "device:v0: unmetered", "device:v0: mark removed"]
    )
    let values = lines.filter { $0.hasPrefix("{") }.compactMap { try? JSONReader.value(in: Array($0.utf8)) }
    let objects = values.compactMap { if case .object(let object) = $0 { object } else { nil } }
    #expect(objects.compactMap { $0["metered"] } == ["yes", "no", "unknown"])
    #expect(objects[0]["meteredReason"]?.text?.contains("marked this network as metered") == true)
    #expect(objects.compactMap { $0["image"] } == ["thumbnail", "original", "original"])
  }

  @Test(.enabled(if: NamespaceRun.isPermitted, "this system refuses network namespaces"))
  func `without a network there is nothing to mark`() throws {
    let run = try NamespaceRun.run("$feedimg network mark metered", in: folder)
    #expect(run.status == 1)
    #expect(run.errors == "feedimg: no network is active; name one with `--ssid` or `--device`\n")
  }
}

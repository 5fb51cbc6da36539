import FeedimgJSON
import Glibc
import LoopbackServer
import Testing

/// Received bytes count in any case, however the program ends.
@Suite(.timeLimit(.minutes(10))) struct InterruptedProgramTests {
  private static let count = 200_000
  /// Tests whether this much of the body has been received.
  private static let hasReceived =
    #"[ -n "$(find cache -path '*/incoming/*' -size +\#(count - 1)c 2> /dev/null)" ]"#
  /// Tests whether the ledger has more than that.
  private static let hasCounted =
    #""$0" usage --json | grep -qE '"total":\{"bytes":(\#(count / 1000)[0-9]{3}),'"#

  private let folder: TestFolder
  private let gate = Gate()
  /// A proxy that sends half of the picture.
  ///
  /// Traffic with this machine itself would not count.
  private let server: LoopbackServer

  init() throws {
    folder = try TestFolder()
    let picture = PictureOrigin.picture(1, size: 2 * Self.count)
    let reply = Reply.stalled(picture, after: Self.count, until: gate, KilledLoadTests.fields)
    server = try LoopbackServer { _ in reply }
    try folder.write("item.json", #"{"originalImage": "http://pictures.example/a.jpg"}"#)
  }

  /// Runs the program until a condition holds, and then sends it signals.
  ///
  /// - Returns: The exit status as a shell shows it.
  private func run(
    _ arguments: [String],
    until condition: String,
    _ signals: [Int32],
    before: String = ""
  ) throws -> Int32 {
    // With job control. Without it, background processes ignore SIGINT.
    let script = """
      set -m
      \(before)
      "$0" "$@" --network wifi > told 2>&1 & program=$!
      while kill -0 $program 2> /dev/null && ! \(condition); do sleep 0.01; done
      for signal in \(signals.map(String.init).joined(separator: " ")); do kill -s $signal $program; done
      wait $program
      """
    let run = try CommandRun(
      of: "/usr/bin/bash",
      ["-c", script, CommandRun.program] + arguments,
      in: folder,
      environment: ["PATH": "/usr/bin:/bin", "http_proxy": server.url("/")]
    )
    gate.open()
    return run.status
  }

  /// Checks that one transfer and half of the picture were counted, with its head.
  private func checkCount() throws {
    let run = try CommandRun(["usage", "--json"], in: folder)
    guard case .object(let total)? = try run.objects.first?["total"] else {
      throw RunError(message: "no total in \(run.output)\(run.errors)")
    }
    let bytes = total["bytes"]?.integer ?? 0
    #expect(bytes > Self.count && bytes < Self.count + 500)
    #expect(total["transfers"]?.integer == 1)
  }

  @Test func `bytes before a silence count, even if the program is killed during it`() throws {
    let status = try run(["load", "--item", "item.json"], until: Self.hasCounted, [SIGKILL])
    #expect(status == 128 + SIGKILL)
    try checkCount()
  }

  @Test(
    arguments: [["load", "--item", "item.json"], ["prefetch", "item.json"]],
    [SIGINT, SIGTERM, SIGHUP]
  )
  func `a signal that ends the program leaves no byte uncounted`(
    _ arguments: [String],
    _ signal: Int32
  ) throws {
    #expect(try run(arguments, until: Self.hasReceived, [signal]) == 128 + signal)
    try checkCount()
  }

  @Test func `a program started with a signal ignored keeps ignoring it`() throws {
    let status = try run(
      ["load", "--item", "item.json"],
      until: Self.hasReceived,
      [SIGINT, SIGTERM],
      before: "trap '' INT"
    )
    #expect(status == 128 + SIGTERM)
    try checkCount()
  }
}

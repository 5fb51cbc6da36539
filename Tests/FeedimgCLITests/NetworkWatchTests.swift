import FeedimgJSON
import Testing

/// `feedimg network --watch`, on a changing network.
@Suite(
  .enabled(if: NamespaceRun.isPermitted, "this system refuses network namespaces"),
  .timeLimit(.minutes(10))
)
struct NetworkWatchTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// The line printed first, and the lines after each change.
  private func lines(_ options: String, after changes: [String]) throws -> [String] {
    let steps = changes.map { "\($0) >&2; read -r line <&3; echo \"$line\"\n" }.joined()
    let script =
      NamespaceRun.cable + """
        mkfifo "$HOME/lines"
        $feedimg network --watch \(options) >"$HOME/lines" & watcher=$!
        exec 3<"$HOME/lines"
        read -r line <&3; echo "$line"
        \(steps)
        kill -9 $watcher
        """
    let run = try NamespaceRun.run(script, in: folder)
    #expect(run.status == 0, "\(run.errors)")
    return run.output.split(separator: "\n").map(String.init)
  }

  private static let changes = [
    "$feedimg network mark metered", "ip link set v0 down",
    "ip link set v0 up; ip route add default via 192.0.2.1",
    "$feedimg network mark unmetered",
  ]

  @Test func `each change is a line in columns, with what changed and why`() throws {
    let lines = try lines("", after: Self.changes)
    // The time of day is three pairs of digits.
    #expect(lines.allSatisfy { $0.prefix(8).split(separator: ":").map(\.count) == [2, 2, 2] })
    let cable = "`v0` is a virtual Ethernet cable, as in containers"
    #expect(
      lines.map { String($0.dropFirst(10)) } == [
        "ethernet             v0         unknown      \(cable); the hardware behind the virtual link is unknown",
        "ethernet             v0         metered      the user marked this network as metered",
        "ethernet → offline   -          -            there is no route to the internet",
        "offline → ethernet   v0         metered      \(cable); the user marked this network as metered",
        "ethernet             v0         not metered  the user marked this network as not metered",
      ]
    )
  }

  #if arch(x86_64)
  /// The system call in which each thread sleeps, by number.
  ///
  /// `poll` is 7, with its milliseconds as third argument, and `pause` is 34 (x86-64).
  ///
  /// Bash itself reads the files, because only the parent process may always do so.
  private static let sleeps = """
    sleeps() {
      local task call file pointer count time rest
      for task in /proc/$watcher/task/*; do
        read -r call pointer count time rest <"$task/syscall"
        case $call in
          34) echo pause;;
          7) time=$((time)); ((time > 50000)) && echo "poll until the check" || echo "poll for $time ms";;
          *) echo "call $call";;
        esac
      done | sort | paste -sd,
    }
    switches() { grep -h ctxt_switches /proc/$watcher/task/*/status; }

    """

  @Test func `between changes its three threads sleep, and specific routes wake none`() throws {
    let script =
      NamespaceRun.cable + Self.sleeps + """
        mkfifo "$HOME/lines"
        $feedimg network --watch >"$HOME/lines" & watcher=$!
        exec 3<"$HOME/lines"
        read -r line <&3
        # What is left of the beginning, such as addresses of IPv6 that come by themselves. One thread waits for the
        # network, one for the settings.
        until [ "$(sleeps)" = "pause,poll until the check,poll until the check" ]; do
          if ((SECONDS > 30)); then echo "not asleep: $(sleeps)"; kill -9 $watcher; exit; fi
        done
        before=$(switches)
        for n in {0..999}; do echo "route add 10.1.$((n / 250)).$((n % 250))/32 dev v0"; done | ip -batch -
        [ "$before" = "$(switches)" ] && echo quiet
        kill -9 $watcher
        """
    let run = try NamespaceRun.run(script, in: folder)
    #expect((run.output, run.errors) == ("quiet\n", ""))
  }
  #endif

  @Test func `as JSON each change is an object with its time, the previous kind and the reason`() throws {
    let lines = try lines("--json", after: Self.changes)
    let objects = lines.compactMap { line in
      if case .object(let object)? = try? JSONReader.value(in: Array(line.utf8)) { object } else { nil }
    }
    #expect(objects.map { $0["from"] } == [.null, "ethernet", "ethernet", "offline", "ethernet"])
    #expect(objects.map { $0["kind"] } == ["ethernet", "ethernet", "offline", "ethernet", "ethernet"])
    #expect(objects.map { $0["metered"] } == ["unknown", "yes", "no", "yes", "no"])
    #expect(objects[1]["why"] == objects[1]["meteredReason"])
    // RFC 3339, in UTC to the millisecond.
    for object in objects {
      let time = object["time"]?.text ?? ""
      #expect(time.count == 24 && time.hasSuffix("Z") && Array(time)[10] == "T", "\(time)")
    }
  }
}

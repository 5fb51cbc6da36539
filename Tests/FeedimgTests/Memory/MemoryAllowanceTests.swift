import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How much memory images may use, by the machine's memory and the limits of control groups.
struct MemoryAllowanceTests {
  struct Machine: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var memory: Int
    var files: [String: String]
    var share: ByteCount
    var origin = MemoryAllowance.Origin.machine
  }

  private static let gibibyte = 1 << 30
  private static let session = "0::/user.slice/app.slice\n"
  private static let unified = FakeSystem.unified

  static let machines = [
    Machine(
      testDescription: "a phone of 2 GiB without control groups: a sixteenth",
      memory: 2 * gibibyte,
      files: [:],
      share: .mebibytes(128)
    ),
    Machine(
      testDescription: "a workstation of 64 GiB: more than a few screens is useless",
      memory: 64 * gibibyte,
      files: [:],
      share: .mebibytes(384)
    ),
    Machine(
      testDescription: "a board of 64 MiB: still a screen of thumbnails",
      memory: 64 << 20,
      files: [:],
      share: .mebibytes(8)
    ),
    Machine(
      testDescription: "a toaster of 16 MiB: at most a quarter",
      memory: 16 << 20,
      files: [:],
      share: .mebibytes(4)
    ),
    Machine(
      testDescription: "a group without a limit changes nothing",
      memory: 2 * gibibyte,
      files: [
        "/proc/self/cgroup": session, "/proc/self/mountinfo": unified,
        "/sys/fs/cgroup/user.slice/app.slice/memory.max": "max\n",
        "/sys/fs/cgroup/user.slice/app.slice/memory.high": "max\n",
      ],
      share: .mebibytes(128)
    ),
    Machine(
      testDescription: "the limit of the group itself counts",
      memory: 8 * gibibyte,
      files: [
        "/proc/self/cgroup": session, "/proc/self/mountinfo": unified,
        "/sys/fs/cgroup/user.slice/app.slice/memory.max": "1073741824\n",
      ],
      share: .mebibytes(64),
      origin: .group("/sys/fs/cgroup/user.slice/app.slice")
    ),
    Machine(
      testDescription: "a lower limit of the parent group counts",
      memory: 8 * gibibyte,
      files: [
        "/proc/self/cgroup": session, "/proc/self/mountinfo": unified,
        "/sys/fs/cgroup/user.slice/app.slice/memory.max": "1073741824\n",
        "/sys/fs/cgroup/user.slice/memory.max": "536870912\n",
      ],
      share: .mebibytes(32),
      origin: .group("/sys/fs/cgroup/user.slice")
    ),
    Machine(
      testDescription: "the throttling limit comes before the kill limit",
      memory: 8 * gibibyte,
      files: [
        "/proc/self/cgroup": session, "/proc/self/mountinfo": unified,
        "/sys/fs/cgroup/user.slice/app.slice/memory.max": "1073741824\n",
        "/sys/fs/cgroup/user.slice/app.slice/memory.high": "268435456\n",
      ],
      share: .mebibytes(16),
      origin: .group("/sys/fs/cgroup/user.slice/app.slice")
    ),
    Machine(
      testDescription: "a limit above the available memory has no effect",
      memory: gibibyte,
      files: [
        "/proc/self/cgroup": "0::/\n", "/proc/self/mountinfo": unified,
        "/sys/fs/cgroup/memory.max": "17179869184\n",
      ],
      share: .mebibytes(64)
    ),
    Machine(
      testDescription: "a version 1 container that sees only its own part",
      memory: 8 * gibibyte,
      files: [
        "/proc/self/cgroup": "4:cpu,memory:/docker/f00\n0::/docker/f00\n",
        "/proc/self/mountinfo":
          "40 1 0:30 /docker/f00 /sys/fs/cgroup/memory ro master:5 - cgroup cgroup rw,memory\n" + unified,
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n",
      ],
      share: .mebibytes(32),
      origin: .group("/sys/fs/cgroup/memory")
    ),
    Machine(
      testDescription: "a group outside the container's view: the topmost visible one counts",
      memory: 8 * gibibyte,
      files: [
        "/proc/self/cgroup": "0::/../other\n", "/proc/self/mountinfo": unified,
        "/sys/fs/cgroup/memory.max": "536870912\n", "/sys/fs/cgroup/other/memory.max": "1\n",
      ],
      share: .mebibytes(32),
      origin: .group("/sys/fs/cgroup")
    ),
    Machine(
      testDescription: "an invalid value limits nothing",
      memory: gibibyte,
      files: [
        "/proc/self/cgroup": "\n::\n0:\nx:y\n", "/proc/self/mountinfo": "- - -\n1 2 3 - cgroup2\n\n",
      ],
      share: .mebibytes(64)
    ),
    Machine(
      testDescription: "a limit that is not a number limits nothing",
      memory: gibibyte,
      files: [
        "/proc/self/cgroup": "0::/\n", "/proc/self/mountinfo": unified,
        "/sys/fs/cgroup/memory.max": "-1\n", "/sys/fs/cgroup/memory.high": "99999999999999999999\n",
      ],
      share: .mebibytes(64)
    ),
  ]

  @Test(arguments: machines)
  func `images use a part of what the process may use`(_ machine: Machine) throws {
    let system = try FakeSystem(machine.files)
    let allowance = MemoryAllowance(machine: machine.memory, files: system.files)
    #expect(allowance.share == machine.share)
    #expect(allowance.origin == machine.origin)
  }

  @Test func `this machine reports its memory`() {
    let allowance = MemoryAllowance(SystemFiles())
    #expect(allowance.memory > 64 << 20)
    #expect(allowance.share <= .mebibytes(384))
  }

  @Test func `the user's setting takes precedence, and decoded images get the larger part where they exist`()
  {
    var settings = UserSettings()
    settings.cacheMemoryLimit = ByteCount(900)
    let limits = MemoryBudget(isDecoding: true).limits(settings)
    #expect(limits == MemoryLimits(encoded: ByteCount(300), decoded: ByteCount(600)))
    let alone = MemoryBudget(isDecoding: false).limits(settings)
    #expect(alone == MemoryLimits(encoded: ByteCount(900), decoded: ByteCount(0)))
    let nothing = MemoryBudget(keepsNothing: true).limits(settings)
    #expect(nothing == MemoryLimits(encoded: ByteCount(0), decoded: ByteCount(0)))
  }

  @Test func `the lower one of the user's limit and the program's limit applies`() {
    var settings = UserSettings()
    settings.cacheMemoryLimit = ByteCount(900)
    #expect(MemoryBudget(limit: ByteCount(500)).limits(settings).encoded == ByteCount(500))
    #expect(MemoryBudget(limit: ByteCount(1000)).limits(settings).encoded == ByteCount(900))
  }

  static let events = [
    // Files that are read and cached meet `memory.max` all the time, and the kernel evicts them.
    ("low 0\nhigh 3\nmax 2\noom 1\noom_kill 1\noom_group_kill 0\n", 5),
    ("low 12\n", 0),
    ("high -4\nmax x\nhigh\n\nmax 1 2\n", 0),
    ("", 0),
  ]

  @Test(arguments: events)
  func `only events for reached limits count, not those for protection`(_ text: String, _ count: Int) {
    #expect(GroupEvents.count(in: text) == count)
  }
}

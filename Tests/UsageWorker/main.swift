import FeedimgModel
import FeedimgUsage
import Glibc

// UsageWorker FOLDER COUNT: counts this many transfers of 7 bytes, or endlessly. It writes a byte for each
// that is on disk.
// UsageWorker zones 0: succeeds if the day follows the time zone.

let arguments = CommandLine.arguments
// UsageWorker full FOLDER: succeeds if each count is kept and reported once, however little room the files
// have.

guard arguments.count == 3, arguments[1] == "full" || Int(arguments[2]) != nil else { exit(2) }
let count = Int(arguments[2]) ?? 0
var moment = timespec()
clock_gettime(CLOCK_REALTIME, &moment)
let start = Double(moment.tv_sec)
if arguments[1] == "zones" {
  // These zones differ by 26 hours, so that it is never the same day in both.
  let days = ["UTC+12", "UTC-14"].map { zone in
    setenv("TZ", zone, 1)
    return LocalCalendar.day(at: start)
  }
  exit(days[0] < days[1] ? 0 : 1)
}
if arguments[1] == "full" {
  // Otherwise the kernel ends a process that exceeds the file size limit.
  signal(SIGXFSZ, SIG_IGN)
  let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  func allow(_ length: rlim_t) {
    var limit = rlimit()
    getrlimit(kind, &limit)
    limit.rlim_cur = min(length, limit.rlim_max)
    setrlimit(kind, &limit)
  }
  // The database has five pages, and the index of its log eight.
  for length in stride(from: 0, to: 40_000, by: 499) {
    let folder = "\(arguments[2])/\(length)"
    let ledger = UsageLedger(folder: folder) { start }
    allow(rlim_t(length))
    for _ in 0..<3 {
      ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes)
      ledger.write()
    }
    let isWritten = ledger.flush()
    let warnings = ledger.takeWarnings()
    guard warnings.count == (isWritten ? 0 : 1) else { exit(3) }
    allow(.max)
    guard ledger.flush(), ledger.takeWarnings().isEmpty else { exit(4) }
    let other = UsageLedger(folder: folder, clock: { start })
    guard let usage = try? other.all().usage, usage.map(\.received.bytes) == [21],
      usage.map(\.transfers) == [3], other.takeWarnings().isEmpty
    else { exit(5) }
  }
  exit(0)
}
let ledger = UsageLedger(folder: arguments[1]) { start }

var counted = 0
while count == 0 || counted < count {
  ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes)
  ledger.write()
  counted += 1
  while !ledger.flush() { poll(nil, 0, 1) }
  var mark = UInt8(ascii: ".")
  guard write(STDOUT_FILENO, &mark, 1) == 1 else { exit(1) }
}

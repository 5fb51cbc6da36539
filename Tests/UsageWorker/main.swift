import FeedimgModel
import FeedimgUsage
import Glibc

// UsageWorker FOLDER COUNT: counts so many transfers of 7 bytes, or for ever; a byte says of each that it is on disk.
// UsageWorker zones 0: succeeds if the day follows the time zone.

let arguments = CommandLine.arguments
guard arguments.count == 3, let count = Int(arguments[2]) else { exit(2) }
var moment = timespec()
clock_gettime(CLOCK_REALTIME, &moment)
let start = Double(moment.tv_sec)
if arguments[1] == "zones" {
  // Between these are 26 hours, so that it is never the same day in both.
  let days = ["UTC+12", "UTC-14"].map { zone in
    setenv("TZ", zone, 1)
    return LocalCalendar.day(at: start)
  }
  exit(days[0] < days[1] ? 0 : 1)
}
let ledger = UsageLedger(folder: arguments[1]) { start }

var counted = 0
while count == 0 || counted < count {
  ledger.add(ByteCount(7), transfers: 1, network: .cellular, metered: .yes)
  counted += 1
  while !ledger.flush() { poll(nil, 0, 1) }
  var mark = UInt8(ascii: ".")
  guard write(STDOUT_FILENO, &mark, 1) == 1 else { exit(1) }
}

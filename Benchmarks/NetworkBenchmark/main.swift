// Measures how fast the state of the network is known, in the network that it is started in:
//
//   NetworkBenchmark look COUNT          the first look, and the median and 99th percentile of COUNT more
//   NetworkBenchmark event COUNT LINK RESTORE
//                                        from before LINK is switched off to the new state, without debounce;
//                                        RESTORE is the command that makes all as before
//   NetworkBenchmark watch               a line for each state that the monitor tells, until the input ends
//
// Times are in microseconds; those of `watch` are of the monotonic clock, in nanoseconds.
import CNetlink
import CTestKernel
import FeedimgModel
import FeedimgReachability
import Glibc

func microseconds(since start: SuspendingClock.Instant) -> Double {
  start.duration(to: SuspendingClock.now) / .microseconds(1)
}

func percentile(_ share: Double, of times: [Double]) -> Int {
  let sorted = times.sorted()
  return sorted.isEmpty ? 0 : Int(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))].rounded())
}

func look(_ count: Int) {
  let reader = NetlinkReader()
  let start = SuspendingClock.now
  let state = reader.currentState()
  let first = microseconds(since: start)
  var times: [Double] = []
  for _ in 0..<count {
    let start = SuspendingClock.now
    _ = reader.currentState()
    times.append(microseconds(since: start))
  }
  print(
    Int(first.rounded()),
    percentile(0.5, of: times),
    percentile(0.99, of: times),
    state.via.joined(separator: ">")
  )
}

func event(_ count: Int, _ link: String, _ restore: String) -> Bool {
  let reader = NetlinkReader()
  guard let events = try? EventSocket() else { return false }
  var waits = pollfd(fd: events.descriptor, events: Int16(POLLIN), revents: 0)
  var times: [Double] = []
  for _ in 0..<count {
    // What the kernel adds later about the link belongs to no round.
    while poll(&waits, 1, 20) > 0 { events.discard() }
    guard reader.currentState().kind != .offline else { return false }
    let start = SuspendingClock.now
    guard test_switch_link(link, 0) == 0 else { return false }
    repeat {
      poll(&waits, 1, -1)
      events.discard()
    } while reader.currentState().kind != .offline
    times.append(microseconds(since: start))
    guard system(restore) == 0 else { return false }
  }
  print(percentile(0.5, of: times), percentile(0.99, of: times))
  return true
}

func watch() async {
  let start = SuspendingClock.now
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  let origin = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  for await state in NetlinkMonitor().states() {
    let now = origin + Int64(start.duration(to: SuspendingClock.now) / .nanoseconds(1))
    let line = "\(now) \(state.kind.rawValue) \(state.device ?? "-")\n"
    _ = line.withCString { write(1, $0, strlen($0)) }
  }
}

let words = CommandLine.arguments.dropFirst()
switch (words.first, words.dropFirst().first.flatMap { Int($0) }, words.dropFirst(2).first) {
case ("look", let count?, nil): look(count)
case ("event", let count?, let link?) where words.count == 4:
  exit(event(count, link, words.last ?? "") ? 0 : 1)
case ("watch", nil, nil): await watch()
default:
  print("usage: NetworkBenchmark look COUNT | event COUNT LINK RESTORE | watch")
  exit(2)
}

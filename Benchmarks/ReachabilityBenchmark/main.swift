// Reads the network state as the library does and reports the times, for Benchmarks/reachability.
//
//   ReachabilityBenchmark snapshot COUNT   prints the median and the 99th percentile in nanoseconds, and the state
//   ReachabilityBenchmark events           prints the time of each new state (CLOCK_MONOTONIC, in nanoseconds)
import FeedimgModel
import FeedimgReachability
import Glibc

func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func tell(_ line: String) {
  print(line)
  fflush(nil)
}

func measureSnapshots(_ count: Int) {
  let reader = NetlinkReader()
  for _ in 0..<100 { _ = reader.currentState() }
  var times: [Int] = []
  for _ in 0..<count {
    let start = now()
    _ = reader.currentState()
    times.append(now() - start)
  }
  times.sort()
  tell("\(times[count / 2]) \(times[count * 99 / 100]) \(reader.currentState().kind.rawValue)")
}

func followEvents() -> Int32 {
  guard let events = try? NetlinkEvents() else { return 1 }
  var source = pollfd(fd: events.descriptor, events: Int16(POLLIN), revents: 0)
  let reader = NetlinkReader()
  tell("ready \(reader.currentState().kind.rawValue)")
  while true {
    guard poll(&source, 1, -1) == 1 else { continue }
    events.drain()
    let state = reader.currentState()
    tell("\(now()) \(state.kind.rawValue)")
  }
}

switch (CommandLine.arguments.dropFirst().first, CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) })
{
case ("snapshot", let count?) where count > 0: measureSnapshots(count)
case ("events", nil): exit(followEvents())
default:
  print("usage: ReachabilityBenchmark snapshot COUNT | events")
  exit(2)
}

// Downloads many URLs, PARALLEL at a time, and reports the time:
//
//   TransferBenchmark PREFIX COUNT PARALLEL [--keep DIRECTORY] [--trust CERTIFICATES]
//
// Downloads PREFIX1 to PREFIXCOUNT and discards the bodies. With --keep, each appears in DIRECTORY when it is
// complete.
import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Glibc
import Synchronization

/// The URLs to download, and the destination.
struct Plan {
  var prefix: String
  var count: Int
  var parallel: Int
  var directory: String?
  var certificateFile: String?

  init?(_ arguments: [String]) {
    guard arguments.count >= 3, let count = Int(arguments[1]), let parallel = Int(arguments[2]) else {
      return nil
    }
    (prefix, self.count, self.parallel) = (arguments[0], count, parallel)
    var rest = arguments.dropFirst(3)
    while let option = rest.popFirst() {
      guard let value = rest.popFirst() else { return nil }
      switch option {
      case "--keep": directory = value
      case "--trust": certificateFile = value
      default: return nil
      }
    }
  }
}

/// Returns the numbers from 1 up.
final class Counter: Sendable {
  private let last = Atomic(0)
  func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

@Sendable func fetch(
  _ plan: Plan,
  _ folder: KeptFolder?,
  _ downloader: CurlDownloader,
  _ counter: Counter
) async throws {
  while true {
    let number = counter.next()
    guard number <= plan.count else { return }
    let request = DownloadRequest(url: try ImageURL("\(plan.prefix)\(number)"))
    if let folder {
      let receiver = try FileReceiver(String(number), in: folder)
      _ = try await downloader.download(request, into: receiver)
      try receiver.commit()
    } else {
      _ = try await downloader.download(request, into: DiscardingReceiver())
    }
  }
}

@Sendable func run(_ plan: Plan, _ downloader: CurlDownloader, on executor: ThreadExecutor) async -> Int32 {
  let counter = Counter()
  let start = SuspendingClock().now
  do {
    let folder = try plan.directory.map { try KeptFolder(path: $0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<plan.parallel {
        group.addTask(executorPreference: executor) { try await fetch(plan, folder, downloader, counter) }
      }
      try await group.waitForAll()
    }
  } catch {
    print(error)
    return 1
  }
  print("\(plan.count) transfers, \(plan.parallel) at a time: \(SuspendingClock().now - start)")
  return 0
}

guard let plan = Plan(Array(CommandLine.arguments.dropFirst())) else {
  print("usage: TransferBenchmark PREFIX COUNT PARALLEL [--keep DIRECTORY] [--trust CERTIFICATES]")
  exit(2)
}
// All callers share one thread with libcurl, as all loads of a program do.
let executor = ThreadExecutor("tasks")
let downloader = CurlDownloader(
  userAgent: "feedimg-benchmark",
  certificateFile: plan.certificateFile,
  on: executor
)
exit(await run(plan, downloader, on: executor))

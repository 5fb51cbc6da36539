import FeedimgModel
import FeedimgSystem
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

extension DownloadScheduler {
  /// Moves all running downloads to another network path.
  func changePath() { leavingPath()() }

  /// Returns when the pipeline has finished its pending work.
  nonisolated func settle() async {
    // The first turn may fall between a change and its consequences.
    for _ in 1...2 { _ = await limits }
  }
}

@PipelineActor @Suite struct DownloadSchedulerTests {
  private let scheduler = DownloadScheduler(ManualTime().time)
  private let calls = RecordedValues<String>()

  /// A download that records the calls of the scheduler.
  private func download(_ name: String = "") -> DownloadScheduler.Download {
    let calls = calls
    return DownloadScheduler.Download(
      preempt: {
        calls.add("preempt \(name)")
        return true
      },
      movePath: { calls.add("move \(name)") }
    )
  }

  @Test func `a download that is preempted before its start gets a slot later`() async {
    // There are two slots, since the link is unknown.
    let prefetches = (0..<2).map { _ in scheduler.enter(host: "h", .prefetch) }
    let visible = (0..<2).map { _ in scheduler.enter(host: "h", .visible) }
    for ticket in visible { #expect(await scheduler.slot(ticket, download())) }
    for ticket in prefetches { #expect(!scheduler.hasSlot(ticket)) }
    for ticket in visible { scheduler.leave(ticket) }
    for ticket in prefetches { #expect(await scheduler.slot(ticket, download())) }
    for ticket in prefetches { scheduler.leave(ticket) }
    #expect(scheduler.isIdle)
  }

  @Test func `a slot between two transfers is taken without a notice`() async {
    let prefetches = (0..<2).map { _ in scheduler.enter(host: "h", .prefetch) }
    for (index, ticket) in prefetches.enumerated() {
      #expect(await scheduler.slot(ticket, download("\(index)")))
    }
    scheduler.stopped(prefetches[1])
    #expect(scheduler.hasSlot(prefetches[1]))
    let visible = scheduler.enter(host: "h", .visible)
    #expect(await scheduler.slot(visible, download()))
    #expect(calls.all == ["preempt 0"])
    for ticket in prefetches { #expect(!scheduler.hasSlot(ticket)) }
    for ticket in prefetches + [visible] { scheduler.leave(ticket) }
    #expect(scheduler.isIdle)
  }

  @Test func `a download that is cancelled while it waits gets no slot`() async {
    let running = (0..<2).map { _ in scheduler.enter(host: "h", .visible) }
    let waiting = scheduler.enter(host: "h", .visible)
    let wait = Task { await scheduler.slot(waiting, download()) }
    wait.cancel()
    #expect(await wait.value == false)
    for ticket in running + [waiting] { scheduler.leave(ticket) }
    #expect(scheduler.isIdle)
  }

  @Test func `a download that starts on the new path does not move`() async {
    let (old, new) = (scheduler.enter(host: "h", .visible), scheduler.enter(host: "h", .visible))
    #expect(await scheduler.slot(old, download("old")))
    let leave = scheduler.leavingPath()
    #expect(await scheduler.slot(new, download("new")))
    leave()
    #expect(calls.all == ["move old"])
  }

  @Test func `a download that waits during a path change does not move`() async {
    let running = (0..<2).map { _ in scheduler.enter(host: "h", .visible) }
    for ticket in running { #expect(await scheduler.slot(ticket, download("old"))) }
    let waiting = scheduler.enter(host: "h", .visible)
    let wait = Task.immediate { await scheduler.slot(waiting, download("new")) }
    let leave = scheduler.leavingPath()
    // The new network has more slots.
    scheduler.enter(network: .ethernet)
    #expect(await wait.value)
    leave()
    #expect(calls.all == ["move old", "move old"])
  }

  @Test func `without a timer thread no download waits for its interval, and the processor rests`() async {
    let alarms = Mutex(0)
    let time = MonotonicTime(
      now: { .zero },
      sleep: { _ in
        alarms.withLock { $0 += 1 }
        throw CancellationError()
      }
    )
    let scheduler = DownloadScheduler(time, interval: .seconds(1))
    let tickets = (0..<2).map { _ in scheduler.enter(host: "h", .visible) }
    #expect(tickets.map(scheduler.hasSlot) == [true, false])
    for _ in 0..<10 { await PipelineActor.task {}.value }
    #expect(tickets.map(scheduler.hasSlot) == [true, true])
    #expect(alarms.withLock { $0 } <= 2)
  }

  @Test func `the limits follow the received bytes and restart on another network`() async {
    let time = ManualTime()
    let scheduler = DownloadScheduler(time.time)
    scheduler.enter(network: .wifi)
    #expect(scheduler.limits.total == 4)
    let ticket = scheduler.enter(host: "h", .visible)
    #expect(scheduler.link.withLock { $0.reported } == nil)
    scheduler.link.withLock { link in
      link.begin(at: time.time.now())
      link.respond(at: time.time.now())
    }
    time.pass(.milliseconds(500))
    #expect(scheduler.link.withLock { $0.receive(125_000, at: time.time.now()) })
    scheduler.received(ticket, 125_000)
    scheduler.link.withLock { $0.end(hasResponse: true, at: time.time.now()) }
    #expect(scheduler.link.withLock { $0.reported } == 2_000_000)
    #expect(scheduler.limits == TransferLimits(total: 2, perHost: 2, besideUrgent: 0))
    scheduler.enter(network: .ethernet)
    #expect(scheduler.link.withLock { $0.reported } == nil)
    #expect(scheduler.limits.total == 4)
  }
}

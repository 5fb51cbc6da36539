import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Synchronization

/// Downloads one response: waits for a slot, sends the request, and resumes an interrupted transfer.
///
/// A download that loses its slot to a more urgent one waits for another slot and then requests the rest.
/// After a change of the network path, it requests the rest in the slot that it has. The receiver sees one
/// continuous body in both cases.
@PipelineActor struct DownloadSession {
  let resources: LoaderResources
  /// The request without the fields that ask for the rest.
  let request: DownloadRequest
  let incoming: IncomingResponse
  /// The load, which supplies the priority.
  let load: InFlightLoad
  /// Decides whether the host may receive a request; nil always allows it.
  let attempt: Attempt?

  /// The largest number of parts in which a server may send one response.
  private static let maximumParts = 32

  func perform() async throws(LoadError) {
    let (scheduler, load) = (resources.transport.scheduler, load)
    let ticket = scheduler.enter(host: request.url.host, load.priority)
    load.onPriority { Task { @PipelineActor in scheduler.setPriority(ticket, load.priority) } }
    // The priority may have changed before the listener was set.
    scheduler.setPriority(ticket, load.priority)
    defer {
      load.onPriority(nil)
      scheduler.leave(ticket)
    }
    var parts = 0
    while parts < Self.maximumParts {
      let transfer = Transfer()
      LoadEventReporter.report(.queued)
      guard await scheduler.slot(ticket, download(transfer)) else {
        throw LoadError(.cancelled, url: request.url, message: "cancelled")
      }
      LoadEventReporter.report(.started)
      do throws(LoadError) {
        try await send(transfer, ticket)
        guard incoming.lacksRest else { return }
        parts += 1
      } catch {
        // Continue by requesting the rest or the whole body.
        guard !Task.isCancelled, incoming.startsOver || transfer.isStopped && error.isInterruption else {
          throw transfer.isMoved && error.isInterruption ? error.markedAsOldPath : error
        }
        if incoming.startsOver { parts += 1 }
      }
      if !scheduler.hasSlot(ticket) { LoadEventReporter.report(.paused) }
      scheduler.stopped(ticket)
    }
    throw LoadError(.truncated, url: request.url, message: "the server sent the image in too many parts")
  }

  /// The actions that the scheduler may take on a transfer.
  private func download(_ transfer: Transfer) -> DownloadScheduler.Download {
    let incoming = incoming
    // Loopback addresses have the same path on every network.
    let isLocal = request.url.isLoopback
    return DownloadScheduler.Download(
      preempt: {
        guard incoming.stop() else { return false }
        transfer.stop()
        return true
      },
      movePath: {
        guard !isLocal, transfer.isRunning else { return }
        transfer.isMoved = true
        if incoming.stop(isConnectionDead: true) { transfer.stop() }
      }
    )
  }

  /// Sends one request and waits for its response.
  private func send(_ transfer: Transfer, _ ticket: DownloadScheduler.Ticket) async throws(LoadError) {
    try attempt?.begin()
    let (resources, attempt) = (resources, attempt)
    let tally = resources.sources.meter?.begin(request.url)
    defer { tally?.end() }
    var request = request
    let receiver = RequestReceiver(incoming: incoming, onEvent: listener(ticket), tally: tally)
    let range = incoming.prepare()
    if !range.fields.isEmpty {
      request.fields.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") }
      request.fields.fields += range.fields
    }
    load.isRequested = true
    defer { load.isRequested = false }
    resources.transport.scheduler.link.withLock { $0.begin(at: resources.time.now()) }
    defer {
      let hasResponse = incoming.hasResponse
      resources.transport.scheduler.link.withLock {
        $0.end(hasResponse: hasResponse, at: resources.time.now())
      }
    }
    do throws(LoadError) {
      try await transfer.run(request, into: receiver, by: resources.transport.downloader)
      incoming.flush()
    } catch {
      incoming.flush()
      if error.code == .cancelled { attempt?.stopped() }
      throw error
    }
  }

  /// Passes events from the transfer's thread to the scheduler and the attempt.
  private func listener(_ ticket: DownloadScheduler.Ticket) -> IncomingResponse.Listener {
    let (scheduler, attempt, url) = (resources.transport.scheduler, attempt, request.url)
    let isProbe = attempt?.isProbe == true
    let liveness = resources.transport.retries.liveness
    return { event in
      switch event {
      case .responded(let status):
        if !url.isLoopback { liveness.responded() }
        // Other loads wait for a probe, so its attempt hears of the response as soon as the head arrives.
        if isProbe { Task { @PipelineActor in attempt?.responded(status: status) } }
      case .redirected(let next):
        if !url.isLoopback { liveness.responded() }
        Task { @PipelineActor in attempt?.redirected(to: next) }
      case .received(let count): Task { @PipelineActor in scheduler.received(ticket, count) }
      }
    }
  }

  /// One request, which can stop without ending the load.
  @PipelineActor private final class Transfer {
    private var task: Task<Result<ResponseHead, LoadError>, Never>?
    private(set) var isStopped = false
    /// Whether the network path changed while the transfer ran.
    var isMoved = false

    nonisolated init() {}

    var isRunning: Bool { task != nil }

    func stop() {
      isStopped = true
      task?.cancel()
    }

    func run(
      _ request: DownloadRequest,
      into receiver: RequestReceiver,
      by downloader: any Downloading
    ) async throws(LoadError) {
      let task = PipelineActor.task {
        await Result.of { () async throws(LoadError) in try await downloader.download(request, into: receiver)
        }
      }
      self.task = task
      if isStopped { task.cancel() }
      let result = await task.cancellableValue
      self.task = nil
      _ = try result.get()
    }
  }
}

extension LoadError {
  /// The same error, marked as a failure of the old network path that says nothing about the new one.
  fileprivate var markedAsOldPath: LoadError {
    var error = self
    // A shortage is of this process, on any path.
    if cause != .shortage { error.cause = .pathChanged }
    return error
  }
}

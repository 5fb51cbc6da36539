import FeedimgModel
import FeedimgTransfer

/// One download that waits for its place, gives it up for something more urgent, and goes on later where it was.
///
/// Where packets go another way meanwhile, it goes on there at once, in the place that it has.
///
/// Who receives the body does not notice: what follows after a stop is asked for as a range, and only the bytes that
/// are missing are handed on. Where the server has no rest of what came, another answer begins.
struct GatedTransfer: Sendable {
  let downloader: any Downloading
  let gate: TransferGate
  let request: DownloadRequest
  let receiver: any BodyReceiving
  /// Tells how urgent it is.
  let run: LoadRun
  /// Looked at before a request goes out for anything but the rest of what came; nil where nothing depends on it.
  var departure: Departure?
  /// Where the steps between waiting and the transfer run, so that none goes to another thread and back.
  var executor: (any TaskExecutor)?
  /// What asks for the rest of what earlier transfers have brought; looked at when a request goes out for anything else.
  var rest: @Sendable () -> HTTPFields = { HTTPFields() }

  func perform() async throws(LoadError) -> ResponseHead {
    let ticket = gate.enter(host: request.url.host, run.priority)
    let (gate, run) = (gate, run)
    run.listenToPriority { gate.reprioritise(ticket) { run.priority } }
    // It may have changed before anybody listened.
    gate.reprioritise(ticket) { run.priority }
    defer {
      run.listenToPriority(nil)
      gate.leave(ticket)
    }
    let relay = BodyRelay(request, receiver, gate: gate, ticket: ticket, run: run)
    // What is on this machine is reached the same way on every network.
    let isLocal = request.url.isLoopback
    while true {
      let attempt = TransferAttempt()
      LoadWitness.tell(.queued)
      let move: @Sendable () -> Void = { if !isLocal { relay.leavePath(attempt) } }
      guard await gate.place(ticket, move: move, stop: { attempt.stop() }) else {
        throw LoadError(.cancelled, url: request.url, message: "cancelled")
      }
      // What others have begun to read is not decided anew.
      if relay.resumption == nil, run.arrival == nil { try departure?.check() }
      LoadWitness.tell(.started)
      do throws(LoadError) {
        return try await transfer(relay, attempt)
      } catch {
        guard isToGoOn(error, relay, attempt, ticket), !Task.isCancelled else {
          throw error.noting(isOfOldPath: attempt.isMoved)
        }
        if let head = relay.whole { return head }
      }
      if gate.hasPlace(ticket) { gate.setStoppable(ticket, true) } else { LoadWitness.tell(.paused) }
      gate.stopped(ticket)
    }
  }

  /// Whether an error comes of a stop, or only of asking for a rest that the server does not have.
  private func isToGoOn(
    _ error: LoadError,
    _ relay: BodyRelay,
    _ attempt: TransferAttempt,
    _ ticket: LoadQueue.Ticket
  ) -> Bool {
    if relay.startsOver { return true }
    // A connection may break by itself as its path goes.
    if attempt.isMoved && attempt.isStopped { return error.breaksOff }
    return error.code == .cancelled && !gate.hasPlace(ticket)
  }

  private func transfer(
    _ relay: BodyRelay,
    _ attempt: TransferAttempt
  ) async throws(LoadError) -> ResponseHead {
    var request = request
    let resumption = relay.resumption
    relay.begin(resumption, attempt)
    if let resumption {
      // In place of the range that was asked for at first, if one was.
      request.fields.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") }
      request.fields.fields += resumption.fields.fields
    } else {
      request.fields.fields += rest().fields
    }
    gate.transferBegan()
    defer { gate.transferEnded(request.url.host, wasAnswered: relay.wasAnswered) }
    let (downloader, asked) = (downloader, request)
    let task = Task(executorPreference: executor) { () async -> Result<ResponseHead, LoadError> in
      do throws(LoadError) {
        return .success(try await downloader.download(asked, into: relay))
      } catch {
        return .failure(error)
      }
    }
    attempt.begin { task.cancel() }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    let head = try result.get()
    return resumption?.whole(after: head) ?? head
  }
}

extension LoadError {
  /// The same; where it is of a transfer that stayed on a path which is gone, it says nothing of the present one.
  fileprivate func noting(isOfOldPath: Bool) -> LoadError {
    var error = self
    error.isOfOldPath = isOfOldPath && breaksOff
    return error
  }
}

import FeedimgModel
import FeedimgTransfer

/// One download that waits for its place, gives it up for something more urgent, and goes on later where it was.
///
/// Who receives the body does not notice: what follows after a stop is asked for as a range, and only the bytes that
/// are missing are handed on.
struct GatedTransfer: Sendable {
  let downloader: any Downloading
  let gate: TransferGate
  let request: DownloadRequest
  let receiver: any BodyReceiving
  /// Tells how urgent it is.
  let run: LoadRun

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
    let relay = BodyRelay(request, receiver, gate: gate, ticket: ticket)
    while true {
      let attempt = TransferAttempt()
      LoadWitness.tell(.queued)
      guard await gate.place(ticket, stop: { attempt.stop() }) else {
        throw LoadError(.cancelled, url: request.url, message: "cancelled")
      }
      LoadWitness.tell(.started)
      do throws(LoadError) {
        return try await transfer(relay, attempt)
      } catch {
        guard error.code == .cancelled, !gate.hasPlace(ticket), !Task.isCancelled else { throw error }
        if let head = relay.whole { return head }
      }
      LoadWitness.tell(.paused)
      gate.stopped(ticket)
    }
  }

  private func transfer(
    _ relay: BodyRelay,
    _ attempt: TransferAttempt
  ) async throws(LoadError) -> ResponseHead {
    var request = request
    let resumption = relay.resumption
    if let resumption {
      // In place of the range that was asked for at first, if one was.
      request.fields.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") }
      request.fields.fields += resumption.fields.fields
    }
    relay.begin(resumption, attempt)
    gate.transferBegan()
    defer { gate.transferEnded(wasAnswered: relay.wasAnswered) }
    let (downloader, asked) = (downloader, request)
    let task = Task { () async -> Result<ResponseHead, LoadError> in
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

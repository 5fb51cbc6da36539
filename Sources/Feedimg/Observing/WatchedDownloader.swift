import FeedimgModel

/// Lets what transfers bring be counted, and their steps be observed; else it changes nothing.
struct WatchedDownloader: Downloading {
  let downloader: any Downloading
  let meter: UsageMeter?

  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead {
    let tally = meter?.begin(request.url)
    let witness = LoadWitness.present
    guard tally != nil || witness != nil else {
      return try await downloader.download(request, into: receiver)
    }
    defer { tally?.end() }
    let watched = WatchedReceiver(receiver: receiver, tally: tally, witness: witness)
    return try await downloader.download(request, into: watched)
  }

  func forgetConnections() { downloader.forgetConnections() }
}

/// Hands on what arrives, and tells of it.
private struct WatchedReceiver: BodyReceiving {
  let receiver: any BodyReceiving
  let tally: UsageMeter.Tally?
  let witness: LoadWitness?

  func requestBegins() { receiver.requestBegins() }

  func begin(_ head: ResponseHead) throws(LoadError) {
    witness?.tell(.answered(status: head.status))
    try receiver.begin(head)
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) { try receiver.receive(bytes) }

  func note(_ step: TransferStep) {
    switch step {
    case .moved(let count): tally?.add(count)
    case .requested:
      tally?.request()
      witness?.tell(.requested)
    case .redirected(let url):
      tally?.goOn(at: url)
      witness?.tell(.redirected(url))
    }
    receiver.note(step)
  }
}

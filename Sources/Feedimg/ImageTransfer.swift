import FeedimgCache
import FeedimgModel

/// One transfer of an image: the request, its answer, and what is kept of it in memory and on disk.
///
/// What broke off before is gone on with where that is safe, and what breaks off is kept for the next time.
struct ImageTransfer: Sendable {
  /// What the server answered with.
  enum Outcome: Sendable {
    case image(FetchedImage)
    /// The image is still the same (304); what was said, and when.
    case notModified(StoredAnswer)
  }

  let loader: ImageLoader
  let variant: ImageVariant
  /// What the request says of who asks; also kept with the answer, where that depends on it.
  let identity: RequestIdentity
  /// Sent beside what identifies the image, such as the validators of what is stored.
  var question = HTTPFields()
  /// Tells how urgent it is, and hears how far it has come.
  let run: LoadRun
  /// Tells whether the server may be asked.
  let begun: LoadTry
  /// Tells whether what is to be asked is still what one would ask; nil where it is asked in any case.
  var departure: Departure?

  private let witness = LoadWitness.present

  /// Tells who observes that it goes on behind so much of the image.
  func resumes(behind count: Int) { witness?.tell(.resumed(ByteCount(count))) }

  /// Tells everybody how far it has come.
  ///
  /// - Throws: `cancelled` where nobody waits for more.
  func progress(_ progress: LoadProgress) throws(LoadError) {
    witness?.tell(.progress(progress))
    defer { loader.transfers.tell() }
    try run.reportIfWanted(progress)
  }

  /// A server that drips a byte now and then is given up in the end, however long the image.
  private static let greatestDuration = Duration.seconds(600)

  /// What was left before stops within a few steps of its thread.
  private static let greatestWait = Duration.seconds(1)

  /// A server that serves less than it was asked for is asked so often for the rest.
  private static let greatestParts = 16

  /// Asks beyond all caches on the way (RFC 9111 §5.2.1.4).
  static let endToEnd = HTTPFields([.init(name: "Cache-Control", value: "no-cache")])

  /// Whether the server is told of a version that is here, so that it may say that there is no other.
  var namesVersion: Bool { question["If-None-Match"] != nil || question["If-Modified-Since"] != nil }

  func run() async throws(LoadError) -> Outcome {
    loader.transfers.begin(run, of: variant)
    defer { loader.transfers.end(run) }
    // What they have brought is kept when they end, and need not come again.
    let ends = loader.transfers.windingDown(of: variant.url, beside: run)
    if !ends.isEmpty {
      await withTaskGroup(of: Void.self) { group in
        for end in ends { group.addTask { await end.wait(Self.greatestWait, loader.time) } }
      }
      if let image = keptMeanwhile() { return .image(image) }
    }
    let settings = loader.settings.currentSettings()
    loader.follow(settings)
    for _ in 1..<Self.greatestParts {
      let collector = BodyCollector(self, limit: settings.downloadLimit)
      do throws(LoadError) {
        return try await attempt(collector, settings)
      } catch {
        guard collector.wantsMore else { throw error }
      }
    }
    return try await attempt(BodyCollector(self, limit: settings.downloadLimit), settings)
  }

  /// What one has kept that was left when all of it had come; nothing where its server is to be asked in any case.
  private func keptMeanwhile() -> FetchedImage? {
    guard departure != nil, question.fields.isEmpty, let image = loader.cached(variant),
      image.suits(identity)
    else { return nil }
    return image
  }

  private func attempt(
    _ collector: BodyCollector,
    _ settings: UserSettings
  ) async throws(LoadError) -> Outcome {
    run.setScans(of: variant.url) { [weak collector] in collector?.scan() }
    defer {
      run.setScans(of: variant.url, nil)
      collector.discard()
    }
    let request = DownloadRequest(
      url: variant.url,
      fields: HTTPFields(identity.fields.fields + question.fields),
      bodyLimit: settings.downloadLimit,
      totalTimeout: Self.greatestDuration
    )
    let transfer = GatedTransfer(
      downloader: begun.downloader(loader.downloader),
      gate: loader.gate,
      request: request,
      receiver: collector,
      run: run,
      departure: departure,
      executor: loader.disk,
      rest: { collector.rangeFields }
    )
    do throws(LoadError) {
      _ = try await transfer.perform()
      if let news = collector.notModified { return .notModified(news) }
      let image = try await collector.finish()
      keep(image)
      return .image(image)
    } catch {
      guard let remains = collector.breakOff(error) else { throw error }
      begun.note(remains)
      throw remains.noted(in: error)
    }
  }

  /// Keeps in memory what may be kept, also where the disk could not take it, and nothing of what may not.
  private func keep(_ image: FetchedImage) {
    let key = variant.url.key
    guard let answer = image.answer, storageAllowed(head: answer.head) else { return loader.forget(key) }
    loader.memory.insert(image.kept(as: variant.role), for: key)
  }
}

extension ImageLoader {
  /// Removes what is kept of an image that must not be kept any more.
  func forget(_ key: String) {
    // Where it cannot be written now, the next answer will say the same.
    _ = try? store.remove(key)
    // Last, so that nobody takes it from disk into memory again.
    memory.remove(key)
  }
}

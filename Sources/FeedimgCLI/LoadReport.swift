import Feedimg

/// Tells of loads one by one, with their progress, and sums up how they ended.
struct LoadReport {
  let itemCount: Int
  let isJSON: Bool
  /// Whether standard output belongs to the image itself.
  let isQuiet: Bool

  /// Where the steps of the load are taken down, if they are to be told.
  var trace: LoadTrace?

  private(set) var status = ExitStatus.success
  /// The outcome, where there is one item.
  private(set) var onlyOutcome: LoadBatch.Outcome?
  private var bytesMoved = 0
  private var isProgressShown = false

  init(itemCount: Int, isJSON: Bool, isQuiet: Bool) {
    self.itemCount = itemCount
    self.isJSON = isJSON
    self.isQuiet = isQuiet
  }

  mutating func add(_ outcome: LoadBatch.Outcome, index: Int) {
    if itemCount == 1 { onlyOutcome = outcome }
    clearProgress()
    switch outcome {
    case .success(let image):
      if image.source == .network { bytesMoved += image.bytes.count }
      show(isJSON ? trace.map { image.json(with: $0.timeline) } ?? image.json : text(image, index))
      for note in image.notes { Output.complain("`\(image.variant.url)`: \(note)") }
    case .failure(let error):
      add(error, index)
    }
    showProgress(done: index + 1)
  }

  /// Notes that something failed before the loads began.
  mutating func noteFailure() { status = .failure }

  /// What came of asking about images that had been shown; none of it makes the run a failure.
  func add(_ news: RevalidationSummary) {
    for url in news.changed { Output.complain("`\(url)`: there is a new version, which is in the cache now") }
    for error in news.failures { Output.complain("shown from the cache, as \(error)") }
    guard news.unfinished > 0 else { return }
    let images = news.unfinished == 1 ? "1 image" : "\(news.unfinished) images"
    Output.complain("\(images) shown from the cache could not be asked about in time")
  }

  private mutating func add(_ error: LoadError, _ index: Int) {
    let isPlaceholder = error.code == .nothingToShow
    if !isPlaceholder { status = .failure } else if status == .success { status = .nothingToShow }
    if isJSON {
      show(trace.map { error.json(with: $0.timeline) } ?? error.json)
    } else if isPlaceholder, let resolution = error.resolution {
      show(placeholderText(resolution, index))
    }
    if !isPlaceholder { Output.complain(error.description) }
  }

  /// Draws the steps of the load, beside the image where that is on standard output.
  func showTrace() {
    guard let trace, !isJSON else { return }
    for line in LoadTrace.lines(trace.timeline) {
      if isQuiet { Output.standardError("\(Printable.text(line))\n") } else { Output.line(line) }
    }
  }

  /// What is for programs is told also where the image has standard output.
  private func show(_ text: String) {
    if !isQuiet { Output.line(text) } else if isJSON { Output.standardError("\(text)\n") }
  }

  private func text(_ image: LoadedImage, _ index: Int) -> String {
    let place = image.source == .network ? "the network" : image.source == .disk ? "the cache" : "memory"
    let size = ByteCount(image.bytes.count).rounded
    var lines = [
      headline(image.resolution, index, "\(image.variant.role.rawValue), from \(place)"),
      ResolutionText.line("file", image.path ?? "not kept"),
      ResolutionText.line("size", "\(size), \(image.mediaType)"),
      ResolutionText.line("url", image.variant.url.description),
    ]
    if image.source != .network, let freshness = image.freshness {
      lines.append(ResolutionText.line("freshness", FreshnessText.line(freshness)))
    }
    return (lines + [ResolutionText.because(image.resolution)]).joined(separator: "\n")
  }

  private func placeholderText(_ resolution: Resolution, _ index: Int) -> String {
    let placeholder = ResolutionText.placeholder(resolution.item.placeholder)
    return
      ([headline(resolution, index, "placeholder")] + placeholder + [ResolutionText.because(resolution)])
      .joined(separator: "\n")
  }

  private func headline(_ resolution: Resolution, _ index: Int, _ what: String) -> String {
    ResolutionText.headline(itemCount > 1 ? index + 1 : nil, resolution, what)
  }

  // MARK: Progress, on a terminal alone

  /// Shows that a load takes long, and which host it waits for.
  mutating func showWaiting(for host: String, since duration: Duration) {
    guard Output.hasTerminalError, duration >= .seconds(1) else { return }
    let seconds = Int(clamping: duration.components.seconds)
    isProgressShown = true
    Output.standardError("\r\u{1B}[KWaiting for \(Printable.text(host)), \(seconds) s")
  }

  private mutating func showProgress(done: Int) {
    guard itemCount > 1, done < itemCount, Output.hasTerminalError else { return }
    isProgressShown = true
    Output.standardError("\r\(done) of \(itemCount) images, \(ByteCount(bytesMoved).rounded) moved")
  }

  private mutating func clearProgress() {
    if isProgressShown { Output.standardError("\r\u{1B}[K") }
  }
}

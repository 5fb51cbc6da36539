import Feedimg
import FeedimgJSON
import FeedimgModel

/// `GET` and `POST /v1/image`: the bytes of the image that the policy chooses for an item.
struct ImageRoute: Sendable {
  let loaders: ImaginedLoaders
  let upgrades: UpgradeWatch
  let metrics: ServiceMetrics
  /// Where the images are kept.
  let folder: String
  let sealing: Sealing
  /// What was asked for before.
  let known = TextMemo<KnownItem>()

  /// Loads the image; a client that hangs up leaves the load, and the last one to leave stops the transfer.
  func answer(_ request: ServiceRequest) async throws(Problem) -> ServiceAnswer {
    if let wanted = request.fields["Feedimg-Cache"], wanted != folder {
      throw Problem(421, "the service keeps its images in `\(folder)`")
    }
    let item = try item(of: request)
    let loader = try request.target.loader(among: loaders)
    let priority = RequestPriority(request.fields["Priority"]).load
    // What a browser sends when its user reloads a page (RFC 9111 §5.2.1.4).
    let wantsNew = request.fields["Cache-Control"]?.lowercased().contains("no-cache") ?? false
    let start = ContinuousClock.now
    var loaded: LoadedImage?
    var begun: (image: ArrivingImage, leave: @Sendable () -> Void)?
    do throws(LoadError) {
      if Self.needsTag(request) {
        loaded = wantsNew ? try await loader.reload(item) : try await loader.load(item, priority: priority)
      } else {
        switch try await loader.deliver(item, priority: priority, isReload: wantsNew) {
        case .whole(let image): loaded = image
        case .arriving(let arrived, let leave): begun = (arrived, leave)
        }
      }
    } catch {
      metrics.count("feedimg_images_total", ("image", error.outcome), ("source", "none"))
      if error.code == .nothingToShow, let resolution = error.resolution {
        upgrades.note(.placeholder, of: resolution.item, by: resolution.decision, of: loader)
      }
      throw error.problem
    }
    let time = ContinuousClock.now - start
    if let begun {
      let resolution = begun.image.resolution
      upgrades.note(
        ShownImage(begun.image.variant.role),
        of: resolution.item,
        by: resolution.decision,
        of: loader
      )
      return try arriving(request, begun.image, took: time, leave: begun.leave)
    }
    guard let image = loaded else { throw Problem(500, "there is no image") }
    let status = image.cacheStatus(forward: wantsNew ? "request" : "uri-miss")
    return try hand(over: WholeImage(image, cacheStatus: status), to: request, of: loader, took: time)
  }

  private func item(of request: ServiceRequest) throws(Problem) -> FeedItem {
    let items =
      request.method == "POST"
      ? try request.items(otherScheme: 403).items : try Self.items(in: request.target)
    guard items.count == 1 else { throw Problem(422, "expected one item, found \(items.count)") }
    return items[0]
  }

  private static func items(in target: RequestTarget) throws(Problem) -> [FeedItem] {
    guard let text = target["item"] else {
      throw Problem(400, "expected an item as JSON in the query, as `item=`")
    }
    do throws(FeedItemError) {
      return try FeedItem.items(json: Array(text.utf8))
    } catch {
      guard !error.namesOtherScheme else { throw Problem(403, "`item`: \(error)", code: "forbidden-scheme") }
      throw Problem(error.line == nil ? 422 : 400, "`item`: \(error)")
    }
  }

  static func beyond(_ length: Int) -> Problem {
    Problem(416, "the image has \(length) bytes", fields: [("Content-Range", "bytes */\(length)")])
  }

  /// What is said of every image, however it comes: as long as the same is decided.
  static func lasting(_ variant: ImageVariant, _ policy: String, rule: Int) -> [(String, String)] {
    [
      ("Accept-Ranges", "bytes"),
      // Which image is right depends on the network, so each use asks, and costs nothing if it is the same.
      ("Cache-Control", "private, no-cache"), ("Content-Location", variant.url.text),
      ("Feedimg-Image", variant.role.rawValue), ("Feedimg-Rule", "\(policy); rule=\(rule)"),
      ("X-Content-Type-Options", "nosniff"),
      // An SVG that is opened by itself is a page, of this origin.
      ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    ]
  }

  /// What is said besides of how it came this time.
  static func momentary(
    _ cacheStatus: String,
    source: LoadedImage.Source,
    took time: Duration
  ) -> [(String, String)] {
    let milliseconds = Double(Int(time / .microseconds(1))) / 1000
    return [
      ("Cache-Status", cacheStatus),
      // Where the time went (Server Timing, §3).
      ("Server-Timing", "load;desc=\"\(source.rawValue)\";dur=\(milliseconds)"),
    ]
  }
}

extension LoadedImage {
  /// How the cache dealt with the request (RFC 9211).
  ///
  /// - Parameter reason: Why a server was asked, if it was.
  /// - Returns: The value of the field.
  fileprivate func cacheStatus(forward reason: String) -> String {
    switch source {
    case .memory, .disk: WholeImage.hit(freshness?.left, in: source)
    case .network: "feedimg; fwd=\(reason)" + (path == nil ? "" : "; stored")
    }
  }
}

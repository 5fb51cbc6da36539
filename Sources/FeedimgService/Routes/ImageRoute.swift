import Feedimg
import FeedimgJSON
import FeedimgModel

/// `GET` and `POST /v1/image`: the bytes of the image that the policy chooses for an item.
struct ImageRoute: Sendable {
  let loaders: OverrideLoaders
  let upgrades: UpgradeWatch
  let metrics: ServiceMetrics
  /// Where the images are kept.
  let folder: String
  let sealing: Sealing
  /// Where clients find again what they wait for.
  let loads: NamedLoads
  /// What was asked for before.
  let known = TextMemo<KnownItem>()

  /// Loads the image; a client that hangs up leaves the load, and the last one to leave stops the transfer.
  func answer(_ request: ServiceRequest) async throws(Problem) -> ServiceAnswer {
    if let wanted = request.fields["Feedimg-Cache"], wanted != folder {
      throw Problem(421, "the service keeps its images in `\(folder)`")
    }
    let item = try item(of: request)
    // Who wants no server to be asked gets what is left without a network (RFC 9111 §5.2.1.7).
    let isCachedOnly = request.asksCaches(for: "only-if-cached")
    let loader = try request.target.loader(among: loaders, isOffline: isCachedOnly)
    let wish = LoadHandle(RequestPriority(request.fields["Priority"]).load)
    if let name = try request.loadName { loads.begin(name, wish) }
    // What a browser sends when its user reloads a page (RFC 9111 §5.2.1.4).
    let wantsNew = !isCachedOnly && request.asksCaches(for: "no-cache")
    let record = LoadRecord(isReload: wantsNew)
    let delivery: ImageDelivery
    do throws(LoadError) {
      delivery = try await loader.deliver(
        item,
        handle: wish,
        isReload: wantsNew,
        isForWhole: Self.needsTag(request),
        observer: record
      )
    } catch {
      metrics.count("feedimg_images_total", ("image", error.outcome), ("source", "none"))
      if error.code == .nothingToShow, let resolution = error.resolution {
        upgrades.note(.placeholder, of: resolution.item, in: resolution.situation, by: loader)
      }
      guard isCachedOnly, error.code == .nothingToShow else { throw error.problem }
      throw Problem(
        504,
        "no image of the item is cached",
        code: "only-if-cached",
        fields: [("Cache-Status", "feedimg; detail=only-if-cached")]
      )
    }
    let timing = record.timing
    switch delivery {
    case .arriving(let image, let leave):
      let (role, resolution) = (ShownImage(image.variant.role), image.resolution)
      upgrades.note(role, of: resolution.item, in: resolution.situation, by: loader)
      return try arriving(request, image, timing.text(at: .now, isArriving: true), leave: leave)
    case .whole(let image):
      let whole = WholeImage(image, cacheStatus: image.cacheStatus(record, isReload: wantsNew))
      return try hand(over: whole, to: request, of: loader, timing.text(at: .now))
    }
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
      throw Problem(error.column == nil ? 422 : 400, "`item`: \(error)")
    }
  }

  static func beyond(_ length: Int, _ fields: [(String, String)]) -> Problem {
    Problem(416, "the image has \(length) bytes", fields: fields + [("Content-Range", "bytes */\(length)")])
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
  static func momentary(_ cacheStatus: String, _ serverTiming: String) -> [(String, String)] {
    [("Cache-Status", cacheStatus), ("Server-Timing", serverTiming)]
  }
}

extension LoadedImage {
  /// How the cache dealt with the request (RFC 9211).
  ///
  /// - Parameters:
  ///   - record: What happened on the way.
  ///   - isReload: Whether the client wanted the server to be asked.
  /// - Returns: The value of the field.
  fileprivate func cacheStatus(_ record: LoadRecord, isReload: Bool) -> String {
    let (wasAsked, status) = record.question
    let forwarded = "feedimg; fwd=\(!record.hasFound ? "uri-miss" : isReload ? "request" : "stale")"
    let answered = record.hasFound ? status.map { "; fwd-status=\($0)" } ?? "" : ""
    if source == .network { return forwarded + answered + (path == nil ? "" : "; stored") }
    // What is asked about beside showing it was a hit.
    guard let freshness, !freshness.isRevalidating else { return WholeImage.hit(freshness?.left, in: source) }
    if wasAsked { return forwarded + answered }
    // Who reloads what another one reloads hears of the answer alone; where nobody was asked, a note says so.
    return isReload && record.hasFound && notes.isEmpty
      ? forwarded + "; collapsed" : WholeImage.hit(freshness.left, in: source)
  }
}

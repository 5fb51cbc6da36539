import Feedimg
import FeedimgHTTPCache
import FeedimgModel

/// `GET` and `POST /v1/image`: the bytes of the image that the policy chooses for an item.
struct ImageRoute: Sendable {
  let loader: ImageLoader
  /// The facts for images in memory.
  let facts: LoopFacts
  let upgrades: UpgradePublisher
  let metrics: ServiceMetrics
  /// The folder of the images.
  let folder: String
  let pixels: PixelsProgram
  let loads: LoadRegistry
  /// The header fields that clients may send to the server of an image, in lower case.
  let forwarded: Set<String>

  /// The response with an image in memory that the policy chooses now; nil where a load must decide.
  func memoryHit(_ request: ServiceRequest) -> ServiceResponse? {
    let start = ContinuousClock.now
    // A request for another situation, with cache directives or with forwarded fields needs a load.
    guard forwardedFields(of: request).fields.isEmpty, request.target.parameters.count == 1,
      request.fields["Cache-Control"] == nil, !request.waitsForStorage,
      request.fields["Feedimg-Cache"].map({ $0 == folder }) ?? true,
      let item = request.item ?? (try? request.target.item),
      let image = loader.lookUpInMemory(item, by: { facts.current })
    else { return nil }
    let timing = LoadSteps.memoryTiming(ContinuousClock.now - start)
    do throws(Problem) {
      return try response(to: request, CompleteImage(image, serverTiming: timing), of: loader)
    } catch {
      return error.response
    }
  }

  /// Loads the image; the load ends when its last client disconnects.
  func response(to request: ServiceRequest) async throws(Problem) -> ServiceResponse {
    if let wanted = request.fields["Feedimg-Cache"], wanted != folder {
      throw Problem(421, "the service keeps its images in `\(folder)`")
    }
    let item = if let item = request.item { item } else { try item(of: request) }
    let cacheControl = CacheControl(request.fields)
    // The loader decides as without a network (RFC 9111 §5.2.1.7).
    let isCachedOnly = cacheControl.has("only-if-cached")
    var loader = try request.target.loader(from: self.loader, isOffline: isCachedOnly)
    let fields = forwardedFields(of: request)
    if !fields.fields.isEmpty { loader = loader.sending(fields, to: try item.onlyOrigin(for: fields)) }
    let size = try request.target.displaySize
    let conversion = try Conversion(request.target, for: size)
    let handle = LoadHandle(RequestPriority(request.fields["Priority"]).load)
    if request.asksForOriginal { handle.requestOriginal() }
    if let name = try request.loadName { loads.add(name, handle) }
    // Browsers send this directive when the user reloads a page (RFC 9111 §5.2.1.4).
    let isReload = !isCachedOnly && cacheControl.has("no-cache")
    let record = LoadRecord(isReload: isReload)
    let delivery: ImageDelivery
    do throws(LoadError) {
      delivery = try await loader.deliver(
        loader.sized(item, for: size.map { DecodeRequest($0) }),
        handle: handle,
        isReload: isReload,
        isForWhole: conversion != nil || Self.needsTag(request),
        observer: record
      )
    } catch {
      throw problem(error, of: loader, isCachedOnly: isCachedOnly)
    }
    let steps = record.steps
    switch delivery {
    case .arriving(let image, let leave):
      let resolution = image.resolution
      let shown = ShownImage(image.variant.role)
      upgrades.note(
        shown,
        of: resolution.item,
        in: resolution.situation,
        isFallback: image.note != nil,
        by: loader
      )
      return try streamed(image, to: request, steps.serverTiming(isStreaming: true), of: loader, leave: leave)
    case .whole(let image):
      let status = image.cacheStatus(steps, isReload: isReload)
      var whole = CompleteImage(image, cacheStatus: status, serverTiming: steps.serverTiming())
      guard let conversion else { return try response(to: request, whole, of: loader) }
      (whole.tag, whole.mediaType) = (conversion.tag(of: whole.tag), conversion.mediaType)
      if !whole.isCurrent(for: request) {
        whole.bytes = try await pixels.convert(whole.bytes, conversion)
      }
      var response = try response(to: request, whole, of: loader)
      response.ownsBody = true
      return response
    }
  }

  /// The response with a whole image, which is counted.
  private func response(
    to request: ServiceRequest,
    _ image: CompleteImage,
    of loader: ImageLoader
  ) throws(Problem) -> ServiceResponse {
    let response = try image.response(to: request)
    let sent = request.method == "HEAD" ? nil : response
    let role = image.variant.role
    upgrades.note(
      ShownImage(role),
      of: image.item,
      in: image.situation,
      isFallback: image.isFallback,
      by: loader
    )
    metrics.count(.images(image: role.rawValue, source: image.source.rawValue))
    if let length = sent?.length { metrics.count(.imageBytes(source: image.source.rawValue), by: length) }
    return response
  }

  /// The response with an image that is still being received: without its tag, which depends on all bytes.
  private func streamed(
    _ image: StreamingImage,
    to request: ServiceRequest,
    _ serverTiming: String,
    of loader: ImageLoader,
    leave: @escaping @Sendable () -> Void
  ) throws(Problem) -> ServiceResponse {
    // A client that joins the load causes no transfer.
    let source = image.response.claim() ? LoadedImage.Source.network : .memory
    metrics.count(.images(image: image.variant.role.rawValue, source: source.rawValue))
    let status = source == .network ? "feedimg; fwd=uri-miss" : "feedimg; fwd=uri-miss; collapsed"
    var fields = CompleteImage.fields(image.variant, image.resolution, status, serverTiming, note: image.note)
    if let mediaType = image.response.mediaType { fields.append(("Content-Type", mediaType)) }
    let length = image.response.response.head.contentLength
    var stream = BodyStream(body: image.response.body, total: length, leave: leave)
    if request.waitsForStorage {
      stream.storage = { [url = image.variant.url] in await loader.finishStore(of: url) }
    }
    var response = ServiceResponse(fields: fields, body: .stream(stream))
    switch ResponseSelection(range: length == nil ? nil : request.range, length: length ?? 0) {
    case .full, .notModified: break
    case .partial(let range):
      stream.part = range
      response.become(range, of: length ?? 0, .stream(stream))
    case .rangeNotSatisfiable:
      leave()
      let fields = [("Cache-Status", status), ("Server-Timing", serverTiming)]
      throw .range(beyond: length ?? 0, of: "image", fields)
    }
    if request.method == "HEAD" {
      // The load continues, since a request for the body most likely follows.
      response.body = .absent(length: response.length)
    } else {
      metrics.count(.imageBytes(source: source.rawValue), by: response.length ?? 0)
    }
    return response
  }

  /// The problem of a load that failed, which is counted.
  private func problem(_ error: LoadError, of loader: ImageLoader, isCachedOnly: Bool) -> Problem {
    metrics.count(.images(image: error.outcome, source: "none"))
    guard error.code == .nothingToShow else { return error.problem }
    if let resolution = error.resolution {
      upgrades.note(.placeholder, of: resolution.item, in: resolution.situation, by: loader)
    }
    guard isCachedOnly else { return error.problem }
    return Problem(
      504,
      "no image of the item is cached",
      code: "only-if-cached",
      fields: [("Cache-Status", "feedimg; detail=only-if-cached")]
    )
  }

  /// The fields of the client that go to the server of the image.
  private func forwardedFields(of request: ServiceRequest) -> HTTPFields {
    guard !forwarded.isEmpty else { return HTTPFields() }
    return HTTPFields(request.fields.fields.filter { forwarded.contains($0.name.lowercased()) })
  }

  /// Whether the response depends on the tag, which is unknown until the whole image has been received.
  private static func needsTag(_ request: ServiceRequest) -> Bool {
    ["If-Match", "If-None-Match", "If-Range"].contains { request.fields[$0] != nil }
  }

  private func item(of request: ServiceRequest) throws(Problem) -> FeedItem {
    guard request.method == "POST" else { return try request.target.item }
    return try request.items(otherScheme: 403).items.onlyItem
  }
}

extension RequestTarget {
  /// The largest side of an image, in pixels; no codec accepts a longer one.
  private static let longestSide = 1_000_000

  /// The size of the view in `width=` and `height=`, in pixels; a side that is absent sets no limit.
  fileprivate var displaySize: DisplaySize? {
    get throws(Problem) {
      let range = 1...Self.longestSide
      let (width, height) = (try number("width", in: range), try number("height", in: range))
      return DisplaySize(maximumWidth: Double(width ?? 0), maximumHeight: Double(height ?? 0))
    }
  }

  /// The item of `item=`.
  var item: FeedItem {
    get throws(Problem) {
      guard let text = self["item"] else {
        throw Problem(400, "expected an item as JSON in the query, as `item=`")
      }
      let items: [FeedItem]
      do throws(FeedItemError) {
        items = try FeedItem.items(json: Array(text.utf8))
      } catch {
        throw Problem(error, in: "`item`: ", otherScheme: 403)
      }
      return try items.onlyItem
    }
  }
}

extension [FeedItem] {
  /// The item of a request for one image.
  fileprivate var onlyItem: FeedItem {
    get throws(Problem) {
      guard count == 1 else { throw Problem(422, "expected one item, found \(count)") }
      return self[0]
    }
  }
}

extension FeedItem {
  /// The origin of all images of the item, which alone may get the fields of a client.
  fileprivate func onlyOrigin(for fields: HTTPFields) throws(Problem) -> String {
    let variants = [original, thumbnail].compactMap { $0 } + sizes
    let origins = Set(variants.map(\.url.origin))
    guard origins.count == 1, let origin = origins.first else {
      let name = fields.fields.first?.name ?? ""
      throw Problem(422, "`\(name)` goes to one origin only, but the item has images of \(origins.count)")
    }
    return origin
  }
}

extension LoadedImage {
  /// The value of `Cache-Status` (RFC 9211) after these steps of the load.
  fileprivate func cacheStatus(_ steps: LoadSteps, isReload: Bool) -> String {
    let isCached = steps.source != nil
    let forwarded = "feedimg; fwd=\(!isCached ? "uri-miss" : isReload ? "request" : "stale")"
    let forwardStatus = isCached ? steps.status.map { "; fwd-status=\($0)" } ?? "" : ""
    if source == .network { return forwarded + forwardStatus + (path == nil ? "" : "; stored") }
    // An image that is revalidated after it was sent is a hit.
    guard let freshness, !freshness.isRevalidating else {
      return CompleteImage.hit(freshness?.left, in: source)
    }
    if steps.isValidated { return forwarded + forwardStatus }
    // A reload that joined another one has no status of its own. A reload that sent no request has a note.
    return isReload && isCached && notes.isEmpty
      ? forwarded + "; collapsed" : CompleteImage.hit(freshness.left, in: source)
  }
}

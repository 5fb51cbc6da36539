import Feedimg
import FeedimgAdmin
import FeedimgJSON
import FeedimgModel

/// `GET /v1/cache` and `/v1/cache/pins`: the size of the cache, the images used last, and the pins of images.
struct CacheRoute: Sendable {
  let cache: ImageCache

  /// The summary as `feedimg cache info --json` prints it.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let count = try request.target.number("images", in: 0...1000)
    return try Problem.reporting { () throws(ConfigurationError) in
      var text = try cache.summary().json
      if let count {
        let images = try cache.images().prefix(count).map(\.json)
        text = "\(text.dropLast()),\"images\":[\(images.joined(separator: ","))]}"
      }
      return ServiceResponse(json: text + "\n")
    }
  }

  /// Pins the image of `url=`, as `feedimg cache pin` does.
  func pin(_ request: ServiceRequest) throws(Problem) -> ServiceResponse {
    try change(request) { url throws(ConfigurationError) in try cache.pin(url) }
  }

  /// Unpins the image of `url=`, as `feedimg cache unpin` does.
  func unpin(_ request: ServiceRequest) throws(Problem) -> ServiceResponse {
    try change(request) { url throws(ConfigurationError) in try cache.unpin(url) }
  }

  private func change(
    _ request: ServiceRequest,
    _ body: (ImageURL) throws(ConfigurationError) -> Bool
  ) throws(Problem) -> ServiceResponse {
    let url = try request.target.url
    // Mostly, the image exceeds a limit or the disk is full (RFC 4918 §11.5).
    let isCached = try Problem.reporting(507) { () throws(ConfigurationError) in try body(url) }
    guard isCached else { throw Problem(404, "`\(url)` is not in the cache", code: "not-cached") }
    return ServiceResponse(204)
  }
}

extension RequestTarget {
  /// The value of a numeric parameter; nil if it is absent.
  ///
  /// - Throws: ``Problem`` 400 for another value.
  func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Problem(
        400,
        "`\(name)` takes a number from \(range.lowerBound) to \(range.upperBound), not `\(text)`"
      )
    }
    return number
  }
}

import Feedimg
import FeedimgAdmin
import FeedimgJSON

/// `GET /v1/cache`: the size of the cache, and with `images=` the images used last.
struct CacheRoute: Sendable {
  let cache: ImageCache

  /// The summary as `feedimg cache info --json` prints it.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let count = try request.target.number("images", in: 0...1000)
    do throws(ConfigurationError) {
      var text = try cache.summary().json
      if let count {
        let images = try cache.images().prefix(count).map(\.json)
        text = "\(text.dropLast()),\"images\":[\(images.joined(separator: ","))]}"
      }
      return ServiceResponse(json: text + "\n")
    } catch {
      throw Problem(500, error.messages.joined(separator: "; "))
    }
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

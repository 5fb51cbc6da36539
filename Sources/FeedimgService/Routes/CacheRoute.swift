import Feedimg
import FeedimgAdmin
import FeedimgJSON

/// `GET /v1/cache`: how much is kept, and with `images=` the images used last.
struct CacheRoute: Sendable {
  let cache: ImageCache

  /// The summary as `feedimg cache info --json` prints it.
  func answer(_ request: ServiceRequest) throws(Problem) -> ServiceAnswer {
    let count = try request.target.number("images", in: 0...1000)
    do throws(ConfigurationError) {
      var text = try cache.summary().json
      if let count {
        let images = try cache.images().prefix(count).map(\.json)
        text = "\(text.dropLast()),\"images\":[\(images.joined(separator: ","))]}"
      }
      return ServiceAnswer(json: text + "\n")
    } catch {
      throw Problem(500, error.messages.joined(separator: "; "))
    }
  }
}

extension RequestTarget {
  /// The whole number that a parameter is; nil where it is left out.
  ///
  /// - Throws: ``Problem`` 400 for anything else.
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

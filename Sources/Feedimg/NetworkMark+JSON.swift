import FeedimgJSON
import FeedimgModel
import FeedimgPipeline

extension NetworkMark {
  /// The mark as one line of JSON.
  public var json: String {
    let value: JSONValue = ["network": .string(network.text), "metered": .string(metered.rawValue)]
    return value.text(.compact)
  }
}

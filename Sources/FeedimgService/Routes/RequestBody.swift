import Feedimg
import FeedimgJSON
import FeedimgModel

extension ServiceRequest {
  /// The items in the body.
  ///
  /// - Parameter otherScheme: The status for an item whose URL is of another scheme than http and https.
  /// - Returns: At least one item, and the form of the body.
  /// - Throws: ``Problem`` 415 for another media type than JSON, 400 for malformed JSON, and 422 for invalid items.
  func items(otherScheme: Int = 422) throws(Problem) -> (items: [FeedItem], form: ItemsForm) {
    try expectBody(in: ["application/json", "application/x-ndjson", "application/jsonl"])
    let values: [JSONValue]
    do throws(JSONError) {
      values = try JSONReader.values(in: body)
    } catch {
      throw Problem(400, "the body is not JSON: \(error)")
    }
    do throws(FeedItemError) {
      let items = try FeedItem.items(in: values)
      if values.count > 1 { return (items, .lines) }
      if case .array? = values.first { return (items, .array) }
      // The response to a single JSON line is a JSON line too.
      return (items, mediaType == nil || mediaType == "application/json" ? .single : .lines)
    } catch {
      let isScheme = error.namesOtherScheme && otherScheme != 422
      throw Problem(isScheme ? otherScheme : 422, "\(error)", code: isScheme ? "forbidden-scheme" : nil)
    }
  }

  /// Throws ``Problem`` 415 for a body of another media type; a body without one is accepted.
  func expectBody(in mediaTypes: [String]) throws(Problem) {
    guard let mediaType, !mediaTypes.contains(mediaType) else { return }
    throw Problem(
      415,
      "expected \(mediaTypes.joined(separator: " or ")), found `\(mediaType)`",
      fields: [(method == "PATCH" ? "Accept-Patch" : "Accept-Post", mediaTypes.joined(separator: ", "))]
    )
  }
}

/// The form of the items in a request, which the response repeats.
enum ItemsForm: Sendable, Hashable {
  case single
  case array
  case lines
}

import Feedimg
import FeedimgJSON
import FeedimgModel

extension ServiceRequest {
  /// The items in the body.
  ///
  /// - Parameter otherScheme: The status for an item whose URL is of another scheme than http and https.
  /// - Returns: At least one, and how they came.
  /// - Throws: ``Problem`` 415 for a body that is no JSON by its type, 400 or 422 for one that has no items.
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
      // A single line of JSON lines is answered by one as well.
      return (items, mediaType == nil || mediaType == "application/json" ? .single : .lines)
    } catch {
      let isScheme = error.namesOtherScheme && otherScheme != 422
      throw Problem(isScheme ? otherScheme : 422, "\(error)", code: isScheme ? "forbidden-scheme" : nil)
    }
  }

  /// Refuses a body of another type; one without a type is taken for what is expected.
  func expectBody(in mediaTypes: [String]) throws(Problem) {
    guard let mediaType, !mediaTypes.contains(mediaType) else { return }
    throw Problem(
      415,
      "expected \(mediaTypes.joined(separator: " or ")), found `\(mediaType)`",
      fields: [(method == "PATCH" ? "Accept-Patch" : "Accept-Post", mediaTypes.joined(separator: ", "))]
    )
  }
}

/// How several items came, and how their answers go back.
enum ItemsForm: Sendable, Hashable {
  case single
  case array
  case lines
}

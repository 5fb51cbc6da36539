import Feedimg
import FeedimgFeeds
import FeedimgJSON
import FeedimgModel
import FeedimgSystem
import Glibc

/// `GET /v1/items`: the feed that the page shows.
struct ItemsRoute: Sendable {
  let configuration: ServiceConfiguration

  /// The longest file, in bytes.
  static let maximumLength = 16 << 20

  /// The current items of the file as one array, which is empty without a file.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    do throws(ServiceError) {
      let items = try items().map { $0.text(.compact) }
      return ServiceResponse(json: "[\(items.joined(separator: ",\n"))]\n")
    } catch {
      throw Problem(500, error.message)
    }
  }

  /// Reads the file: one item, an array of items, one item a line, or a document of another format.
  ///
  /// Items keep the members that feedimg does not know.
  ///
  /// - Throws: ``ServiceError`` for an unreadable or invalid file.
  func items() throws(ServiceError) -> [JSONValue] {
    guard let file = configuration.items else { return [] }
    let bytes: [UInt8]
    do throws(FileFault) {
      bytes = try OpenFile(file, to: "read", O_RDONLY | O_NONBLOCK).read(upTo: Self.maximumLength)
    } catch {
      throw ServiceError("`\(file)`: cannot be read: \(FileFault.words(for: error.reason))", isUsage: true)
    }
    guard bytes.count <= Self.maximumLength else {
      throw ServiceError("`\(file)` is longer than \(Self.maximumLength >> 20) MiB", isUsage: true)
    }
    do throws(ItemDocumentError) {
      return switch try ItemDocument(bytes, configuration.feed) {
      case .items(_, let values):
        if values.count == 1, case .array(let elements) = values[0] { elements } else { values }
      case .feed(let items): items.map(\.jsonValue)
      }
    } catch {
      throw ServiceError("`\(file)`: \(error.description)", isUsage: true)
    }
  }
}

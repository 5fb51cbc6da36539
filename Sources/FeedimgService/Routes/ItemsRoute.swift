import Feedimg
import FeedimgFeeds
import FeedimgJSON
import FeedimgModel
import FeedimgSystem
import Glibc

extension ServiceConfiguration {
  /// The longest file of items, in bytes.
  private static let maximumLength = 16 << 20

  /// `GET /v1/items`: the items that the page shows as one array, which is empty without a file.
  func itemsResponse(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    do throws(ServiceError) {
      let items = try readItems().map { $0.text(.compact) }
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
  func readItems() throws(ServiceError) -> [JSONValue] {
    guard let file = items else { return [] }
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try OpenFile(file, to: "read", O_RDONLY | O_NONBLOCK).read(upTo: Self.maximumLength)
    } catch {
      throw .usage("`\(file)`: cannot be read: \(FileError.words(for: error.reason))")
    }
    guard bytes.count <= Self.maximumLength else {
      throw .usage("`\(file)` is longer than \(Self.maximumLength >> 20) MiB")
    }
    do throws(Problem) {
      return switch try ItemDocument(bytes, feed) {
      case .items(_, let values):
        if values.count == 1, case .array(let elements) = values[0] { elements } else { values }
      case .feed(let items): items.map(\.jsonValue)
      }
    } catch {
      throw .usage("`\(file)`: \(error.detail)")
    }
  }
}

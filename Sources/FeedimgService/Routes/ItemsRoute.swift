import Feedimg
import FeedimgFeeds
import FeedimgJSON
import FeedimgModel
import Glibc

/// `GET /v1/items`: the feed that the page shows.
struct ItemsRoute: Sendable {
  /// A file with the items; nil for none.
  let file: String?
  /// The format of the file, and the base of its URLs.
  let feed: FeedReader

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
    guard let file else { return [] }
    let bytes = try Self.read(file)
    do throws(ItemDocumentError) {
      return switch try ItemDocument(bytes, feed) {
      case .items(_, let values):
        if values.count == 1, case .array(let elements) = values[0] { elements } else { values }
      case .feed(let items): items.map(\.jsonValue)
      }
    } catch {
      throw ServiceError("`\(file)`: \(error.description)", isUsage: true)
    }
  }

  private static func read(_ path: String) throws(ServiceError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw ServiceError("`\(path)`: cannot be read: \(SystemErrorText.of())", isUsage: true)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw ServiceError("`\(path)`: cannot be read: \(SystemErrorText.of())", isUsage: true)
      }
      if count == 0 { return bytes }
      bytes += block.prefix(count)
      guard bytes.count <= maximumLength else {
        throw ServiceError("`\(path)` is longer than \(maximumLength >> 20) MiB", isUsage: true)
      }
    }
  }
}

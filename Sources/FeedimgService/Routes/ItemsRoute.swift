import Feedimg
import FeedimgJSON
import FeedimgModel
import Glibc

/// `GET /v1/items`: the feed that the page shows.
struct ItemsRoute: Sendable {
  /// A file with the items; nil for none.
  let file: String?

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

  /// Reads the file: one item, an array of items, or one item a line.
  ///
  /// - Throws: ``ServiceError`` for an unreadable or invalid file.
  func items() throws(ServiceError) -> [JSONValue] {
    guard let file else { return [] }
    let values = try Self.values(in: file)
    do throws(FeedItemError) {
      _ = try FeedItem.items(in: values)
    } catch {
      throw ServiceError("`\(file)`: \(error)", isUsage: true)
    }
    if values.count == 1, case .array(let elements) = values[0] { return elements }
    return values
  }

  private static func values(in file: String) throws(ServiceError) -> [JSONValue] {
    let bytes = try read(file)
    do throws(JSONError) {
      return try JSONReader.values(in: bytes)
    } catch {
      throw ServiceError("`\(file)`: not JSON: \(error)", isUsage: true)
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

import Feedimg
import FeedimgFeeds
import FeedimgJSON
import FeedimgModel
import FeedimgSystem
import Glibc

extension ServiceConfiguration {
  /// The longest file of items, in bytes.
  private static let maximumLength = 16 << 20
  /// The most warnings about invalid items; with more, the file is probably not a feed.
  private static let maximumWarningCount = 20

  /// `GET /v1/items`: the items that the page shows as one array, which is empty without a file.
  func itemsResponse(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    do throws(ServiceError) {
      let items = try readItems().items.map { $0.text(.compact) }
      return ServiceResponse(json: "[\(items.joined(separator: ",\n"))]\n")
    } catch {
      throw Problem(500, error.message)
    }
  }

  /// Reads the file: one item, an array of items, one item a line, or a document of another format.
  ///
  /// Items keep the members that feedimg does not know.
  ///
  /// - Returns: The valid items, and warnings about the others.
  /// - Throws: ``ServiceError`` for an unreadable file, or one without a valid item. If ``feed`` is strict, also for the
  ///   first invalid item.
  func readItems() throws(ServiceError) -> (items: [JSONValue], warnings: [String]) {
    guard let file = items else { return ([], []) }
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try OpenFile(file, to: "read", O_RDONLY | O_NONBLOCK).read(upTo: Self.maximumLength)
    } catch {
      throw .usage("`\(file)`: cannot be read: \(FileError.words(for: error.reason))")
    }
    guard bytes.count <= Self.maximumLength else {
      throw .usage("`\(file)` is longer than \(Self.maximumLength >> 20) MiB")
    }
    var reader = feed
    if reader.format == nil {
      do throws(FeedItemError) {
        let (items, faults) = try entries(in: bytes)
        return (items, Self.warnings(about: faults, count: faults.count, in: file))
      } catch {
        guard let format = FeedFormat(detecting: bytes, notReadFor: error) else {
          let markup = FeedFormat.unknownMarkup(bytes, option: "--from html")
          throw .usage("`\(file)`: \(markup ?? error.description)")
        }
        reader.format = format
      }
    }
    do throws(FeedError) {
      let document = try reader.read(bytes)
      let warnings = Self.warnings(about: document.warnings, count: document.warningCount, in: file)
      return (document.items.map(\.jsonValue), warnings)
    } catch {
      throw .usage("`\(file)`: \(error)")
    }
  }

  /// The items of a JSON document, and the errors of its other values.
  ///
  /// - Throws: The first error, if it ends the document or the document may have another format.
  private func entries(
    in bytes: [UInt8]
  ) throws(FeedItemError) -> (items: [JSONValue], faults: [FeedItemError]) {
    var values: [JSONValue]
    do throws(JSONError) {
      values = try JSONReader.values(in: bytes)
    } catch {
      throw FeedItemError(error)
    }
    if values.count == 1, case .array(let elements) = values[0] { values = elements }
    var (items, faults): ([JSONValue], [FeedItemError]) = ([], [])
    for (index, value) in values.enumerated() {
      do throws(FeedItemError) {
        _ = try FeedItem(json: value)
        items.append(value)
      } catch {
        var fault = error
        if values.count > 1 { fault.item = index + 1 }
        faults.append(fault)
      }
    }
    if let fault = faults.first,
      feed.isStrict || items.isEmpty || FeedFormat(detecting: bytes, notReadFor: fault) != nil
    {
      throw fault
    }
    return (items, faults)
  }

  private static func warnings(
    about faults: [some CustomStringConvertible],
    count: Int,
    in file: String
  ) -> [String] {
    let warnings = faults.prefix(maximumWarningCount).map { "`\(file)`: \($0)" }
    let silent = count - warnings.count
    return silent > 0 ? warnings + ["`\(file)`: \(silent) more invalid items"] : warnings
  }
}

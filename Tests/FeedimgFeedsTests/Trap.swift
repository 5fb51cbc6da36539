import FeedimgFeeds
import FeedimgModel
import Testing

/// A document and its expected items, each as `original > thumbnail`, and `-` for none.
struct Trap: CustomTestStringConvertible {
  var name: String
  var format: FeedFormat
  var document: String
  var items: [String]
  var base: String?
  /// Parts of the warnings, one for each.
  var warnings: [String] = []
  var testDescription: String { name }

  init(
    _ name: String,
    _ format: FeedFormat,
    _ document: String,
    _ items: [String],
    base: String? = nil,
    warnings: [String] = []
  ) {
    self.name = name
    self.format = format
    self.document = document
    self.items = items
    self.base = base
    self.warnings = warnings
  }

  func check() throws {
    let reader = FeedReader(format: format, base: try base.map { try ImageURL($0) })
    let found = try reader.read(Array(document.utf8))
    #expect(found.items.map(Self.text) == items)
    #expect(found.warningCount == warnings.count, "\(found.warnings)")
    for (warning, part) in zip(found.warnings, warnings) {
      #expect(warning.description.contains(part), "\(warning)")
    }
    // The lines of `feedimg items` are the same items.
    let lines = found.items.map(\.json).joined(separator: "\n")
    if !lines.isEmpty { #expect(try FeedItem.items(json: Array(lines.utf8)) == found.items) }
  }

  static func text(_ item: FeedItem) -> String {
    func short(_ variant: ImageVariant?) -> String {
      variant.map { $0.url.text.replacing("https://x.example/", with: "") } ?? "-"
    }
    let kind = item.kind == .picture ? "" : "\(item.kind): "
    return "\(kind)\(short(item.original)) > \(short(item.thumbnail))"
  }
}

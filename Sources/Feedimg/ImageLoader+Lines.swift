import FeedimgCache
import FeedimgJSON
public import FeedimgModel

extension ImageLoader {
  /// Returns the decisions of ``resolve(_:facts:)`` as JSON lines, each as ``Resolution/json``.
  ///
  /// Reads the network, the settings and the cache once for all items, so it suits long feeds.
  ///
  /// - Parameters:
  ///   - items: The items to decide about.
  ///   - take: Gets the UTF-8 text in pieces of whole lines.
  public func resolve(_ items: [FeedItem], asLines take: ([UInt8]) -> Void) {
    var outlook = outlook()
    // An empty cache is asked once, not for each item.
    let isEmpty = !outlook.asksCache || (store.isEmpty && memory.encoded.count == 0)
    let isCached = isEmpty ? { _ in false } : presence(of: items, outlook)
    var writer = JSONWriter(.compact)
    // Neighbours mostly have the same facts, so their text is written once.
    var facts = (readings: [FactReading](), text: Array("{}".utf8))
    for item in items {
      let resolution = outlook.resolution(of: item, isCached: isCached)
      if resolution.facts != facts.readings {
        facts = (resolution.facts, Array(resolution.factsJSON.text(.compact).utf8))
      }
      writer.write(resolution.jsonWithoutFacts) { writer in
        writer.name("facts")
        writer.write(json: facts.text)
      }
      writer.endLine()
      guard writer.bytes.count >= Self.pieceLength else { continue }
      take(writer.bytes)
      writer.removeText()
    }
    if !writer.bytes.isEmpty { take(writer.bytes) }
  }

  /// The length at which lines are handed over, in bytes.
  private static let pieceLength = 1 << 16
}

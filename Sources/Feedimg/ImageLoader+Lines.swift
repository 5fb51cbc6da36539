import FeedimgCache
public import FeedimgModel

extension ImageLoader {
  /// Says what loads would do now, as ``resolve(_:facts:)`` does, in lines of JSON as of ``Resolution/json``.
  ///
  /// For very many items: the network, the settings and the cache are asked once for the batch.
  ///
  /// - Parameters:
  ///   - batch: What to decide about.
  ///   - take: Called with one piece of UTF-8 text after another, each some whole lines.
  public func resolve(_ batch: FeedItemBatch, asLines take: ([UInt8]) -> Void) {
    let context = decisionContext()
    let cached = context.asksCache && batch.count > 0 ? cachedKeys(of: batch) : nil
    var lines = ResolutionLines(context, of: batch)
    var output: [UInt8] = []
    output.reserveCapacity(Self.lineBuffer + Self.lineBuffer / 4)
    batch.bytes.withUnsafeBufferPointer { bytes in
      for item in batch.scanned {
        if item.unusual >= 0 {
          lines.append(batch.unusual[item.unusual], to: &output) { cached?.contains($0.key) ?? false }
        } else {
          lines.append(item, in: bytes, to: &output) { span in
            cached?.contains(String(decoding: bytes[span.range], as: UTF8.self)) ?? false
          }
        }
        guard output.count >= Self.lineBuffer else { continue }
        take(output)
        output.removeAll(keepingCapacity: true)
      }
    }
    if !output.isEmpty { take(output) }
  }

  /// Lines are handed over when there are about so many bytes of them.
  private static let lineBuffer = 1 << 16

  /// What is cached of a batch; nil for nothing, which is soon told of an empty cache.
  private func cachedKeys(of batch: FeedItemBatch) -> Set<String>? {
    guard !(store.isEmpty && memory.encoded.count == 0) else { return nil }
    var keys: [String] = []
    keys.reserveCapacity(2 * batch.count)
    for item in batch.scanned {
      if item.unusual >= 0 {
        let whole = batch.unusual[item.unusual]
        keys += [whole.original, whole.thumbnail].compactMap { $0?.url.key }
      } else {
        for role in ImageVariant.Role.allCases where item[role].isThere {
          keys.append(String(decoding: batch.bytes[item[role].range], as: UTF8.self))
        }
      }
    }
    let cached = zip(keys, store.contains(keys)).filter { $1 || memory[$0] != nil }.map(\.0)
    return cached.isEmpty ? nil : Set(cached)
  }
}

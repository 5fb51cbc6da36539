// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

import CFeedimg
import FeedimgModel

/// An item of the C interface.
final class ItemHandle: Sendable {
  let item: FeedItem
  let id: CText

  init(_ item: FeedItem) { (self.item, id) = (item, CText(item.id)) }
}

@c @implementation
public func feedimg_item_new(
  _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ json: UnsafePointer<CChar>?
) -> CInt {
  attempt { () throws(CallError) in
    let (out, json) = (try given(out, "out"), try given(text(json), "json"))
    let items: [FeedItem]
    do throws(FeedItemError) {
      items = try FeedItem.items(json: Array(json.utf8))
    } catch {
      throw CallError(FEEDIMG_ERROR_ITEM, error.description)
    }
    guard let item = items.first, items.count == 1 else {
      throw CallError(FEEDIMG_ERROR_ITEM, "expected one item, found \(items.count)")
    }
    out.pointee = handle(ItemHandle(item))
  }
}

@c @implementation
public func feedimg_item_free(_ item: OpaquePointer?) { release(item, as: ItemHandle.self) }

@c @implementation
public func feedimg_item_id(_ item: OpaquePointer?) -> UnsafePointer<CChar>? {
  object(item, as: ItemHandle.self)?.id.pointer
}

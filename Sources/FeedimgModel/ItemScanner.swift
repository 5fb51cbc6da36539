import FeedimgJSON

/// Finds the parts of an item in one pass over its bytes, without making anything of them.
///
/// Takes what nearly all items are, and gives up on everything else: escapes in what it must know, members that are
/// there twice, URLs that a cache would spell otherwise, many variants, and whatever is wrong. What it gives up on,
/// ``JSONReader`` reads, so that there is one judge of what an item is, and one wording of what is wrong with it.
struct ItemScanner {
  var cursor: ByteCursor

  /// The item that begins where the cursor stands; nil where this is not for a scanner.
  static func item(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> (item: ScannedItem, end: Int)? {
    var scanner = ItemScanner(cursor: ByteCursor(bytes: bytes, offset: start))
    guard var item = scanner.item() else { return nil }
    let end = scanner.cursor.offset
    item.whole = ScannedItem.Span(start: start, count: end - start)
    return (item, end)
  }

  private mutating func item() -> ScannedItem? {
    var item = ScannedItem()
    var seen: UInt8 = 0
    let isWhole = members { scanner, name in
      guard let member = scanner.member(name) else { return scanner.cursor.skipValue() }
      guard seen & member.rawValue == 0 else { return false }
      seen |= member.rawValue
      if scanner.cursor.takeNull() { return true }
      switch member {
      case .id: return scanner.identifier(&item.id)
      case .original: return scanner.address(&item.original)
      case .thumbnail: return scanner.address(&item.thumbnail)
      case .text: return scanner.cursor.skipString()
      case .page: return scanner.cursor.skipString()
      case .variants: return scanner.variants(&item)
      case .placeholder: return scanner.placeholder(&item)
      }
    }
    guard isWhole, item.original.isThere || item.thumbnail.isThere else { return nil }
    // Forms that may contradict each other.
    if seen & Member.variants.rawValue != 0,
      seen & (Member.original.rawValue | Member.thumbnail.rawValue) != 0
    {
      return nil
    }
    if item.original.isThere, item.thumbnail.isThere, cursor.isSame(item.original, item.thumbnail) {
      item.thumbnail = ScannedItem.Span()
    }
    return item
  }

  private enum Member: UInt8 {
    case id = 1
    case original = 2
    case thumbnail = 4
    case text = 8
    case page = 16
    case variants = 32
    case placeholder = 64
  }

  private func member(_ name: ScannedItem.Span) -> Member? {
    switch name.count {
    case 2: cursor.spells(name, "id") ? .id : nil
    case 3: cursor.spells(name, "alt") ? .text : nil
    case 4: cursor.spells(name, "page") ? .page : nil
    case 8: cursor.spells(name, "variants") ? .variants : nil
    case 11: cursor.spells(name, "placeholder") ? .placeholder : nil
    case 13: cursor.spells(name, "originalImage") ? .original : nil
    case 14: cursor.spells(name, "thumbnailImage") ? .thumbnail : nil
    default: nil
    }
  }

  /// Moves past an object.
  ///
  /// - Parameter take: Moves past one value, whose name is given; false to give up.
  /// - Returns: False where it was given up.
  @inline(__always)
  private mutating func members(_ take: (inout ItemScanner, ScannedItem.Span) -> Bool) -> Bool {
    guard cursor.take("{") else { return false }
    cursor.skipSpace()
    if cursor.take("}") { return true }
    while true {
      guard let name = cursor.plainString() else { return false }
      cursor.skipSpace()
      guard cursor.take(":") else { return false }
      cursor.skipSpace()
      guard take(&self, name) else { return false }
      cursor.skipSpace()
      if cursor.take("}") { return true }
      guard cursor.take(",") else { return false }
      cursor.skipSpace()
    }
  }

  private mutating func identifier(_ span: inout ScannedItem.Span) -> Bool {
    if let text = cursor.plainString() {
      span = text
      return true
    }
    let start = cursor.offset
    guard cursor.skipNumber() else { return false }
    span = ScannedItem.Span(start: start, count: cursor.offset - start)
    return true
  }

  private mutating func text(_ span: inout ScannedItem.Span) -> Bool {
    guard let text = cursor.plainString() else { return false }
    span = text
    return true
  }

  private mutating func address(_ span: inout ScannedItem.Span) -> Bool {
    text(&span) && cursor.isCanonicalURL(span)
  }

  private mutating func placeholder(_ item: inout ScannedItem) -> Bool {
    var (blurHash, thumbHash, color) = (ScannedItem.Span(), ScannedItem.Span(), ScannedItem.Span())
    let isWhole = members { scanner, name in
      if scanner.cursor.spells(name, "blurhash") { return !blurHash.isThere && scanner.text(&blurHash) }
      if scanner.cursor.spells(name, "thumbhash") { return !thumbHash.isThere && scanner.text(&thumbHash) }
      guard scanner.cursor.spells(name, "color") else { return scanner.cursor.skipValue() }
      return !color.isThere && scanner.text(&color) && scanner.cursor.isColor(color)
    }
    (item.blurHash, item.thumbHash, item.color) = (blurHash, thumbHash, color)
    return isWhole
  }

  /// One original and one thumbnail at most, each with its role.
  private mutating func variants(_ item: inout ScannedItem) -> Bool {
    guard cursor.take("[") else { return false }
    repeat {
      cursor.skipSpace()
      guard variant(&item) else { return false }
      cursor.skipSpace()
    } while cursor.take(",")
    return cursor.take("]")
  }

  private mutating func variant(_ item: inout ScannedItem) -> Bool {
    var (url, role) = (ScannedItem.Span(), ScannedItem.Span())
    var (size, width, height) = (-1, -1, -1)
    var hasType = false
    let isWhole = members { scanner, name in
      if scanner.cursor.spells(name, "url") { return !url.isThere && scanner.address(&url) }
      if scanner.cursor.spells(name, "role") { return !role.isThere && scanner.text(&role) }
      if scanner.cursor.spells(name, "bytes") { return scanner.cursor.takeCount(&size) }
      if scanner.cursor.spells(name, "width") { return scanner.cursor.takeCount(&width) }
      if scanner.cursor.spells(name, "height") { return scanner.cursor.takeCount(&height) }
      guard scanner.cursor.spells(name, "type") else { return scanner.cursor.skipValue() }
      defer { hasType = true }
      return !hasType && scanner.cursor.skipString()
    }
    guard isWhole, url.isThere, role.isThere else { return false }
    if cursor.spells(role, "original"), !item.original.isThere {
      (item.original, item.size) = (url, size)
      return true
    }
    guard cursor.spells(role, "thumbnail"), !item.thumbnail.isThere else { return false }
    item.thumbnail = url
    return true
  }
}

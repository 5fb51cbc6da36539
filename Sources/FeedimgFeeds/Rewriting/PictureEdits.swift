/// The replacements in a feed, with the rules for a reference, a `srcset` and HTML.
struct PictureEdits {
  private(set) var edits = DocumentEdits()
  let pictures: FeedPictures
  /// Whether the document is UTF-8; in other encodings, only references in ASCII are replaced.
  let isUTF8: Bool

  init(_ pictures: FeedPictures, isUTF8: Bool = true) {
    self.pictures = pictures
    self.isUTF8 = isUTF8
  }

  /// Replaces a reference to a picture.
  mutating func replace(_ reference: PlacedText, base: String?, isThumbnail: Bool = false) {
    let range = reference.trimmedRange
    guard let text = string(reference.bytes[range]) else { return }
    replace(text, at: range, in: reference, base: base, isThumbnail: isThumbnail)
  }

  /// Replaces all candidates of a `srcset`.
  mutating func replaceCandidates(_ attribute: PlacedText, base: String?) {
    guard let text = string(attribute.bytes[...]) else { return }
    for candidate in ImageCandidate.candidates(in: text) {
      replace(candidate.url, at: candidate.place, in: attribute, base: base, isThumbnail: false)
    }
  }

  /// Replaces the pictures of HTML.
  mutating func replace(html: PlacedText, base: String?) {
    var (scanner, base, hasBase) = (MarkupScanner(html.bytes, isXML: false), base, false)
    while let token = scanner.next() {
      guard case .tag(let tag) = token, !tag.isEnd else { continue }
      let attributes = tag.attributes.map { (name: $0.name, value: PlacedText(html, $0.value)) }
      if tag.name == "base", !hasBase, let reference = attributes.text("href")?.nonBlank {
        hasBase = true
        base = URLReference.base(reference, outer: base)
      }
      replace(tag.name, attributes, base: base)
    }
  }

  /// Replaces the pictures of an element of HTML or XHTML, whose attributes are as written.
  mutating func replace(_ element: String, _ attributes: [MarkupAttribute], base: String?) {
    func isOnePixel(_ name: String) -> Bool { attributes.text(name)?.nonBlank == "1" }
    // A picture of one pixel counts visits.
    guard ["img", "source", "video"].contains(element), !(isOnePixel("width") && isOnePixel("height")) else {
      return
    }
    var names = Set<String>()
    // Only the first attribute of a name counts.
    for (name, value) in attributes where names.insert(name).inserted {
      switch (element, name) {
      case ("img", _) where Self.sources.contains(name): replace(value.decodingReferences(), base: base)
      case ("img", _) where Self.candidates.contains(name),
        ("source", _) where Self.candidates.contains(name):
        replaceCandidates(value.decodingReferences(), base: base)
      case ("video", "poster"): replace(value.decodingReferences(), base: base, isThumbnail: true)
      default: break
      }
    }
  }

  /// The attributes that hold a picture; those besides `src` are of scripts that load pictures late.
  private static let sources: Set<String> = ["src", "data-src", "data-lazy-src", "data-original"]
  private static let candidates: Set<String> = ["srcset", "data-srcset", "data-lazy-srcset"]

  private mutating func replace(
    _ reference: String,
    at range: Range<Int>,
    in text: PlacedText,
    base: String?,
    isThumbnail: Bool
  ) {
    guard !edits.areTooLong, !reference.isEmpty, let place = text.place(of: range),
      let address = pictures.address(of: reference, base: base, isThumbnail: isThumbnail)
    else { return }
    edits.replace(place, with: address)
  }

  private func string(_ bytes: ArraySlice<UInt8>) -> String? {
    guard isUTF8 || bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// An attribute with its value as written.
typealias MarkupAttribute = (name: String, value: PlacedText)

extension [MarkupAttribute] {
  /// The value of the first attribute of a name; nil if it is absent.
  func text(_ name: String) -> String? {
    first { $0.name == name }.map { String(decoding: $0.value.decodingReferences().bytes, as: UTF8.self) }
  }
}

import FeedimgJSON
import FeedimgModel

/// The pictures of one entry of a feed, and its faults.
struct Entry {
  /// The URL to which relative URLs refer, if known.
  var base: String?
  private var pictures: [Picture] = []
  private var indexes: [String: Int] = [:]
  private var versionCount = 0
  /// The invalid parts, one line each.
  private(set) var faults: [String] = []

  init(base: String?) { self.base = base }

  var items: [FeedItem] { pictures.compactMap(\.item) }
  var isEmpty: Bool { pictures.isEmpty }

  /// Adds a picture after the others; a picture with the same URL gets its versions instead.
  mutating func add(_ picture: Picture) {
    guard let key = picture.key, hasRoom(for: picture.thumbnails.count + 1) else { return }
    if let index = indexes[key] { return pictures[index].merge(picture) }
    indexes[key] = pictures.count
    pictures.append(picture)
  }

  /// Adds smaller versions to the first picture.
  mutating func addToFirst(_ thumbnails: [ImageVariant]) {
    guard !pictures.isEmpty, hasRoom(for: thumbnails.count) else { return }
    pictures[0].thumbnails += thumbnails
  }

  /// Counts more versions; false if they are too many, which is reported once.
  private mutating func hasRoom(for count: Int) -> Bool {
    guard versionCount <= FeedLimits.versions else { return false }
    versionCount += count
    guard versionCount > FeedLimits.versions else { return true }
    report(nil, "more than \(FeedLimits.versions) versions of pictures; the others are ignored")
    return false
  }

  /// Notes that a member or an element is invalid; without a place, the entry as a whole.
  mutating func report(_ place: String?, _ message: String) {
    faults.append(place.map { "`\($0)`: \(message)" } ?? message)
  }

  /// The absolute URL of a reference; nil if it is blank, or if it is invalid, which is reported.
  ///
  /// `ignoresOtherSchemes` accepts schemes other than http and https in silence.
  mutating func url(_ text: String?, _ place: String, ignoresOtherSchemes: Bool = false) -> ImageURL? {
    let reference = URLReference.cleaned(text ?? "")
    guard !reference.isEmpty else { return nil }
    do throws(ImageURLError) {
      return try ImageURL(URLReference.resolve(reference, base: base))
    } catch {
      if case .scheme = error, ignoresOtherSchemes { return nil }
      let hint = error == .relative ? ", and the document has no base URL" : ""
      report(place, "expected an http or https URL, but `\(ImageURL.shown(reference))` \(error)\(hint)")
      return nil
    }
  }

  /// The version of a picture at a reference; nil as for ``url(_:_:ignoresOtherSchemes:)``.
  mutating func variant(
    _ role: ImageVariant.Role,
    _ text: String?,
    _ place: String,
    width: Int? = nil,
    height: Int? = nil
  ) -> ImageVariant? {
    url(text, place).map {
      ImageVariant(role: role, url: $0, width: width?.positive, height: height?.positive)
    }
  }

  // MARK: JSON

  /// The version of a picture whose URL is in a member; nil as for ``url(_:_:ignoresOtherSchemes:)``.
  ///
  /// The object `size` may have the members `width` and `height`.
  mutating func variant(
    _ role: ImageVariant.Role,
    _ value: JSONValue,
    _ name: String,
    in place: String = "",
    size: JSONValue? = nil
  ) -> ImageVariant? {
    let (width, height) = (size?["width"]?.integer, size?["height"]?.integer)
    return variant(role, text(value, name, in: place), place + name, width: width, height: height)
  }

  /// The text of a member; nil if it is absent, or if it is not a string, which is reported.
  mutating func text(_ value: JSONValue, _ name: String, in place: String = "") -> String? {
    guard let member = value[name] else { return nil }
    if member.text == nil { report(place + name, "expected a string, found \(member.kind)") }
    return member.text
  }

  /// The objects of an array in a member, each with its place; others are reported.
  mutating func objects(_ value: JSONValue, _ name: String, in place: String = "") -> [(JSONValue, String)] {
    guard let member = value[name] else { return [] }
    guard case .array(let elements) = member else {
      report(place + name, "expected an array, found \(member.kind)")
      return []
    }
    var objects: [(JSONValue, String)] = []
    for (index, element) in elements.enumerated() {
      let place = "\(place)\(name)[\(index)]"
      if case .object = element {
        objects.append((element, place + "."))
      } else if element != .null {
        report(place, "expected an object, found \(element.kind)")
      }
    }
    return objects
  }
}

extension Int {
  /// The number if it is above zero; feeds write zero for an unknown size.
  var positive: Int? { self > 0 ? self : nil }
}

extension String {
  /// The text without white space at its ends; nil if nothing is left.
  var nonBlank: String? {
    let text = URLReference.trimmed(self)
    return text.isEmpty ? nil : text
  }
}

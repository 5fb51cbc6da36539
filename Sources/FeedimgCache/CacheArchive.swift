import FeedimgModel

/// The form of exported entries: a tar archive that any tar lists and unpacks.
///
/// ```
/// feedimg-cache/FORMAT                 which form this is; comes first
/// feedimg-cache/3f…-9a….jpg.record     the record of an entry, a line of ``EntryRecord``
/// feedimg-cache/3f…-9a….jpg            its body
/// ```
/// Each record stands before its body, so that an archive is read in one go; the last used entries come first. The
/// names tell bodies and records apart and nothing else: no file is ever made by a name from an archive.
enum CacheArchive {
  static let folder = "feedimg-cache/"
  static let form = "FORMAT"
  static let formText = "feedimg cache export 1\n"
  static let recordEnding = ".record"
  /// A record has no more bytes than this.
  static let greatestRecord = 1 << 20

  /// What the name of a member says that it is.
  enum Content: Hashable {
    case form
    case record(BodyName)
    case body(BodyName)
  }

  /// What a member is; nil for one that is none of ours.
  static func content(name: String) -> Content? {
    var rest = name[...]
    // What was packed again by hand.
    if rest.hasPrefix("./") { rest = rest.dropFirst(2) }
    guard rest.hasPrefix(folder) else { return nil }
    rest = rest.dropFirst(folder.count)
    if rest == form { return .form }
    if rest.hasSuffix(recordEnding) { return BodyName(rest.dropLast(recordEnding.count)).map(Content.record) }
    return BodyName(rest).map(Content.body)
  }

  /// The bytes of one member, padded to whole blocks; nil where the format cannot hold it.
  static func member(_ name: String, _ content: [UInt8], modifiedAt: Double) -> [UInt8]? {
    guard let header = TarHeader.block(name: folder + name, size: content.count, modifiedAt: modifiedAt)
    else {
      return nil
    }
    return header + content + [UInt8](repeating: 0, count: TarHeader.padding(of: content.count))
  }

  /// What stands after the last member.
  static let end = [UInt8](repeating: 0, count: 2 * TarHeader.blockSize)
}

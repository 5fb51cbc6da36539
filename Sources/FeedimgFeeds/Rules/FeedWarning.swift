/// An invalid entry, or an invalid picture of an entry; feedimg skipped it.
public struct FeedWarning: Sendable, Hashable, CustomStringConvertible {
  /// The number of the entry, counted from one.
  public var entry: Int
  /// The identifier of the entry, if the feed has one.
  public var id: String?
  /// The expected and the found value, with the member or element.
  public var message: String

  /// One line that names the entry.
  public var description: String { "entry \(entry)\(id.map { " (`\($0)`)" } ?? ""): \(message)" }
}

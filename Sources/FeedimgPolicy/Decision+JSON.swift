package import FeedimgJSON
package import FeedimgModel

extension Decision {
  /// The members of a decision as every JSON output has them: rule, image, source, show, load, upgrade.
  package var members: [(String, JSONValue)] {
    [
      ("rule", .integer(rule)),
      ("image", .string(image.rawValue)),
      ("source", .string(source.rawValue)),
      ("show", .string(show.rawValue)),
      ("load", .string(load?.rawValue ?? "nothing")),
      ("upgrade", .string(upgrade.rawValue)),
    ]
  }
}

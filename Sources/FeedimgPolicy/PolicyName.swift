import FeedimgModel

/// The names of policies as people type them.
package enum PolicyName {
  /// The name that was probably meant by one that is not known; nil if none is near.
  package static func nearest(to name: String, among names: [String]) -> String? {
    Spelling.nearest(to: name, among: names)
  }
}

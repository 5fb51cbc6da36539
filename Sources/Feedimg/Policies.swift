import FeedimgJSON
import FeedimgPolicies
import FeedimgPolicy

/// The policies that there are, and what can be asked of them.
///
/// A policy is named as on the shelf, such as `data-saver`, or by the path of a file. Every answer is a value that
/// does not change; files are read anew for each question.
public struct Policies: Sendable {
  /// Where a policy comes from; a later one replaces an earlier one of the same name.
  public enum Layer: String, Sendable, Hashable {
    /// It comes with feedimg.
    case builtIn = "built-in"
    /// The administrator's folder, `/etc/feedimg/policies`.
    case system
    /// The user's folder, `$XDG_CONFIG_HOME/feedimg/policies`.
    case user
    /// A file that was given by its path.
    case given
  }

  /// The names of the policies that come with feedimg, the default first.
  public static var shippedNames: [String] { ShippedPolicies.all.map(\.name) }

  /// The JSON Schema of policies in their machine form (draft 2020-12).
  public static var schema: String { PolicySchema.json.text(.indented) }

  let shelf: PolicyShelf
  let configuration: ImageLoader.Configuration

  /// The policies that a loader of this configuration could decide by.
  ///
  /// - Parameter configuration: Its folders count, its policy, and the facts of the application.
  /// - Throws: ``ConfigurationError`` for facts of the application that no table could spell.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    self.configuration = configuration
    shelf = try PolicyShelf(configuration)
  }
}

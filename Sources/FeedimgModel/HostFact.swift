/// A fact that the host application defines for policies.
///
/// For example, whether an image is on screen, or the age of its post.
public struct HostFact: Sendable, Hashable {
  /// The name in policies: lower-case words with single spaces.
  public var name: String
  /// The possible values. The first applies until ``Situation/hostFacts`` sets another.
  public var values: [String]

  /// Declares a fact. Reading a policy checks the name and values.
  public init(name: String, values: [String]) {
    self.name = name
    self.values = values
  }
}

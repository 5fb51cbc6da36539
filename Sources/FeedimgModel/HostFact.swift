/// A fact that the host application defines, so that policies may ask about it.
///
/// Such as whether a picture is on screen, or how old its post is in the application's own words.
public struct HostFact: Sendable, Hashable {
  /// As policies name it: words in lower case with single spaces.
  public var name: String
  /// What it can be; the first holds until ``Situation/hostFacts`` says another.
  public var values: [String]

  /// Declares a fact; name and values are checked where policies are read.
  public init(name: String, values: [String]) {
    self.name = name
    self.values = values
  }
}

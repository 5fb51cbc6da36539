/// A fact that is given instead of read, so that any situation can be reproduced.
public struct SituationOverride: Sendable, Hashable {
  /// As policies name it, such as `always original`; hyphens may stand for the spaces.
  public var fact: String
  /// As policies spell it, such as `yes`.
  public var value: String
  /// Who gave it, for explanations, such as `--network`.
  public var source: String

  /// Makes an override; fact and value are checked when a loader is made with it.
  public init(fact: String, value: String, source: String) {
    self.fact = fact
    self.value = value
    self.source = source
  }
}

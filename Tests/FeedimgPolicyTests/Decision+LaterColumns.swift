import FeedimgModel

extension Decision {
  /// The members of columns that come after `upgrade` and `priority`, which a new column adds.
  var laterColumns: String {
    DecisionPart.columns.dropFirst(2).map { #","\#($0.rawValue)":"\#($0.value(in: self))""# }.joined()
  }
}

package import FeedimgJSON
import FeedimgModel

/// What a policy decides in every single state, for machines.
package struct StateListing: Sendable {
  private let evaluation: Evaluation
  private let fixed: [FixedFact]

  /// Lists the states of a policy.
  ///
  /// - Parameters:
  ///   - table: The policy; states for which it has no rule are left out.
  ///   - fixed: Facts of which only these values are of interest.
  /// - Throws: ``PolicyErrors`` where there are too many states.
  package init(_ table: PolicyTable, fixing fixed: [FixedFact] = []) throws(PolicyErrors) {
    evaluation = Evaluation(table, in: try table.space())
    self.fixed = fixed
  }

  /// Calls with one object a state, in the order of states: the last fact counts fastest.
  package func forEachState(_ body: (JSONValue) -> Void) {
    let space = evaluation.space
    for state in 0..<space.count where space.isPossible(state) && isWanted(state) {
      guard let decision = evaluation.decision(at: state) else { continue }
      let members = [("state", space.witness(at: state).json)] + decision.members
      body(.object(JSONObject(members)))
    }
  }

  /// An array with one object a state.
  package var json: JSONValue {
    var elements: [JSONValue] = []
    forEachState { elements.append($0) }
    return .array(elements)
  }

  private func isWanted(_ state: Int) -> Bool {
    let space = evaluation.space
    guard !fixed.isEmpty else { return true }
    let coordinates = space.coordinates(of: state)
    return space.axes.indices.allSatisfy { index in
      let axis = space.axes[index]
      return fixed.allSatisfy { $0.fact != axis.fact || axis.regions[coordinates[index]].contains($0.value) }
    }
  }
}

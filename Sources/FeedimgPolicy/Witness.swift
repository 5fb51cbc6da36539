package import FeedimgJSON
package import FeedimgModel

/// A state picked out of others as an example, and a situation in it.
package struct Witness: Sendable, Hashable {
  /// What one fact is in the state.
  package struct Value: Sendable, Hashable {
    package let fact: Fact
    /// A word, a region such as `< 20 MB`, or `unknown`.
    package let text: String
  }

  /// In the fixed order.
  package let values: [Value]
  package let situation: Situation

  /// The state as an object, such as `{"network": "wifi", "size": "< 20 MB"}`.
  package var json: JSONValue {
    .object(JSONObject(values.map { ($0.fact.name, .string($0.text)) }))
  }
}

extension StateSpace {
  /// A state with its situation.
  package func witness(at state: Int) -> Witness {
    let values = zip(axes, coordinates(of: state)).map { axis, index in
      Witness.Value(fact: axis.fact, text: axis.label(index))
    }
    return Witness(values: values, situation: situation(at: state))
  }
}

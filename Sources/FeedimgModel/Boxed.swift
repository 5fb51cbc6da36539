/// A large value on the heap, so that copies of its owner and the frames of tasks stay small.
package indirect enum Boxed<Value> {
  case value(Value)

  package init(_ value: Value) { self = .value(value) }

  package var value: Value {
    get {
      switch self {
      case .value(let value): value
      }
    }
    set { self = .value(newValue) }
  }
}

extension Boxed: Sendable where Value: Sendable {}

extension Boxed: Equatable where Value: Equatable {}

extension Boxed: Hashable where Value: Hashable {}

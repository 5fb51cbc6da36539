import FeedimgModel

/// Who wants to know of changes, what each has been told, and so whether anybody must wait for them.
struct SettingsAudience: Sendable {
  /// What the change of the audience asks for.
  enum Step: Equatable {
    case start
    /// Somebody new waits to be told the present state.
    case wake
    case stop
    case none
  }

  /// By number; nil for who has been told nothing yet.
  private var told: [Int: UserSettings?] = [:]
  private var lastNumber = 0

  var isEmpty: Bool { told.isEmpty }

  mutating func join() -> (number: Int, step: Step) {
    lastNumber += 1
    told[lastNumber] = .some(nil)
    return (lastNumber, told.count == 1 ? .start : .wake)
  }

  mutating func leave(_ number: Int) -> Step {
    guard told.removeValue(forKey: number) != nil else { return .none }
    return told.isEmpty ? .stop : .none
  }

  /// Who has to be told of these settings; they count as told.
  mutating func tell(_ settings: UserSettings) -> [Int] {
    let numbers = told.filter { $0.value != settings }.map(\.key).sorted()
    for number in numbers { told[number] = settings }
    return numbers
  }
}

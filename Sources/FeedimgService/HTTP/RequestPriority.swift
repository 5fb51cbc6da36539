import FeedimgModel

/// How urgent a client calls its request (RFC 9218).
struct RequestPriority: Sendable, Hashable {
  /// From 0, the most urgent, to 7.
  let urgency: Int

  /// Reads the field `Priority`, such as `u=1, i`; what is not understood counts as absent (§4).
  ///
  /// - Parameter field: Nil where there is none: the urgency is then 3.
  init(_ field: String?) {
    var urgency = 3
    for member in field?.split(separator: ",") ?? [] {
      let sides = member.split(separator: ";").first?.trimmed.split(separator: "=") ?? []
      guard sides.count == 2, sides[0] == "u", let value = Int(sides[1]), (0...7).contains(value) else {
        continue
      }
      urgency = value
    }
    self.urgency = urgency
  }

  /// The same in the loader's words: who says nothing waits for what is on the screen.
  var load: LoadPriority {
    switch urgency {
    case ...3: .visible
    case 4...5: .near
    default: .prefetch
    }
  }
}

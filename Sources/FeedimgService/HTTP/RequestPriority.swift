import FeedimgHTTPCache
import FeedimgModel

/// The urgency of a request (RFC 9218).
struct RequestPriority: Sendable, Hashable {
  /// From 0, the most urgent, to 7.
  let urgency: Int

  /// Reads the field `Priority`, such as `u=1, i`; malformed members are ignored (§4).
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

  /// The priority of the load; a request without the field is for a visible image.
  var load: LoadPriority {
    switch urgency {
    case ...3: .visible
    case 4...5: .near
    default: .prefetch
    }
  }
}

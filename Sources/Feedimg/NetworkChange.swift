import FeedimgJSON
public import FeedimgModel
import FeedimgPipeline

/// A change of the network, or its initial state.
public struct NetworkChange: Sendable, Hashable {
  /// The state before the change; nil for the initial state.
  public var previous: NetworkState?
  /// The state after the change.
  public var state: NetworkState

  /// Makes a change.
  ///
  /// - Parameters:
  ///   - previous: The state before the change; nil for the initial state.
  ///   - state: The state after the change.
  public init(from previous: NetworkState?, to state: NetworkState) {
    self.previous = previous
    self.state = state
  }

  /// The reasons for the parts of the state that changed, in words.
  public var why: String {
    guard let previous else {
      return state.kind == .offline ? state.reason : "\(state.reason); \(state.meteredReason)"
    }
    var reasons: [String] = []
    if (state.kind, state.via, state.reason) != (previous.kind, previous.via, previous.reason) {
      reasons.append(state.reason)
    }
    let isCostNew = (state.metered, state.meteredReason) != (previous.metered, previous.meteredReason)
    if isCostNew, state.kind != .offline { reasons.append(state.meteredReason) }
    if reasons.isEmpty { reasons.append(state.route.map { "the route is `\($0)`" } ?? state.reason) }
    return reasons.joined(separator: "; ")
  }

  /// Returns the state as one line of JSON, with the time, the previous kind (`null` at first) and the
  /// reason.
  ///
  /// - Parameter time: When the change was reported, in the format of RFC 3339.
  /// - Returns: One JSON object.
  public func json(at time: String) -> String {
    var object = JSONObject([("time", .string(time)), ("from", .optional(previous?.kind.rawValue))])
    if case .object(let members) = state.jsonValue {
      for member in members.members { object[member.name] = member.value }
    }
    object["why"] = .string(why)
    return JSONValue.object(object).text(.compact)
  }
}

import FeedimgJSON
public import FeedimgModel
import FeedimgPipeline

/// One change of the network, or the state at first.
public struct NetworkChange: Sendable, Hashable {
  /// What it was before; nil at first.
  public var previous: NetworkState?
  /// What it is now.
  public var state: NetworkState

  /// Makes a change.
  ///
  /// - Parameters:
  ///   - previous: What the network was before; nil at first.
  ///   - state: What it is now.
  public init(from previous: NetworkState?, to state: NetworkState) {
    self.previous = previous
    self.state = state
  }

  /// Why the network is what has changed about it, in words.
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

  /// The state as one line of JSON, with the time, the kind before (null at first) and why.
  ///
  /// - Parameter time: When the change was told, as RFC 3339 has it.
  /// - Returns: One object.
  public func json(at time: String) -> String {
    var object = JSONObject([("time", .string(time)), ("from", .optional(previous?.kind.rawValue))])
    if case .object(let members) = state.jsonValue {
      for member in members.members { object[member.name] = member.value }
    }
    object["why"] = .string(why)
    return JSONValue.object(object).text(.compact)
  }
}

import FeedimgCache
package import FeedimgModel

/// Whether showing a cached image asks its server if it is still valid (pure).
package enum RevalidationPlan: Hashable, Sendable {
  case none
  /// The image is shown at once, and the server is asked meanwhile.
  case meanwhile
  /// The server is asked before; where it does not respond, the image is shown all the same.
  case before

  /// Another request within so many seconds would be in vain, whatever the response says.
  static let leastInterval = 10.0

  /// - Parameters:
  ///   - response: The stored response.
  ///   - identity: What a request would say.
  ///   - now: Seconds since 1970.
  package init(_ response: StoredResponse, by identity: RequestIdentity, at now: Double) {
    let vary = Vary(response.head.fields)
    let isNew = (0..<Self.leastInterval).contains(now - response.respondedAt)
    // A request to save data does not make it the image of another program.
    let isOurs =
      vary.matches(response.varied.withoutSaving, identity.sent.withoutSaving) || vary.isOpen && isNew
    if isOurs, !identity.savesData, response.varied["Save-Data"] != nil, !isNew {
      // It was made smaller to save data, which is no longer wanted.
      self = .meanwhile
    } else if !isOurs {
      // It was chosen by what another program said of itself (RFC 9111 §4.1).
      self = .before
    } else {
      self = Freshness(of: response, at: now).standing == .fresh || isNew ? .none : .meanwhile
    }
  }
}

extension HTTPFields {
  fileprivate var withoutSaving: HTTPFields { HTTPFields(fields.filter { !$0.isNamed("Save-Data") }) }
}

import FeedimgHTTPCache
package import FeedimgModel

/// Whether to ask the server about a cached image, and when (pure).
package enum RevalidationPlan: Hashable, Sendable {
  case none
  /// Show the image at once, and ask the server meanwhile.
  case meanwhile
  /// Ask the server first, and show the image even if the server does not respond.
  case before

  /// The interval in seconds within which another request is pointless, regardless of the response.
  static let minimumInterval = 10.0

  package init(_ response: StoredResponse, by identity: RequestIdentity, at now: Double) {
    let vary = Vary(response.head.fields)
    let isNew = (0..<Self.minimumInterval).contains(now - response.respondedAt)
    // `Save-Data` alone does not make a stored response that of another program.
    let isOurs =
      vary.matches(response.varied.withoutSaveData, identity.sent.withoutSaveData) || vary.isOpen && isNew
    if isOurs, !identity.savesData, response.varied["Save-Data"] != nil, !isNew {
      // The server may have reduced the image to save data, which is no longer wanted.
      self = .meanwhile
    } else if !isOurs {
      // The server chose it by the request fields of another program (RFC 9111 §4.1).
      self = .before
    } else {
      self = Freshness(of: response, at: now).state == .fresh || isNew ? .none : .meanwhile
    }
  }
}

extension HTTPFields {
  fileprivate var withoutSaveData: HTTPFields { HTTPFields(fields.filter { !$0.isNamed("Save-Data") }) }
}

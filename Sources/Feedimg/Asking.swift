import FeedimgCache
package import FeedimgModel

/// What showing a cached image asks of its server (pure).
package enum Asking: Hashable, Sendable {
  case nothing
  /// It is shown at once, and its server is asked about it meanwhile.
  case meanwhile
  /// Its server is asked before it is shown; where it does not answer, the image is shown nevertheless.
  case first

  /// Asking again within so many seconds would be in vain, whatever the answer says.
  static let leastInterval = 10.0

  /// - Parameters:
  ///   - answer: What brought the image.
  ///   - identity: What we would send.
  ///   - now: Seconds since 1970.
  package init(about answer: StoredAnswer, by identity: RequestIdentity, at now: Double) {
    let vary = Vary(answer.head.fields)
    // What the image depends on beyond the request has not changed within a moment.
    // Nor does saving data make it another program's.
    let isOurs =
      vary.matches(answer.varied.withoutSaving, identity.sent.withoutSaving)
      || vary.isOpen && answer.isNew(at: now)
    if isOurs, !identity.savesData, answer.varied["Save-Data"] != nil, !answer.isNew(at: now) {
      // It was made smaller to save data, which is to be saved no more.
      self = .meanwhile
    } else if !isOurs {
      // Chosen by what another program has said of itself (RFC 9111 §4.1).
      self = .first
    } else if Freshness(of: answer, at: now).standing == .fresh || answer.isNew(at: now) {
      self = .nothing
    } else {
      self = .meanwhile
    }
  }
}

extension StoredAnswer {
  fileprivate func isNew(at now: Double) -> Bool { (0..<Asking.leastInterval).contains(now - respondedAt) }
}

extension HTTPFields {
  fileprivate var withoutSaving: HTTPFields { HTTPFields(fields.filter { !$0.isNamed("Save-Data") }) }
}

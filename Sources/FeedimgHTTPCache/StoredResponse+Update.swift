package import FeedimgModel

extension StoredResponse {
  /// When the server made the response, or when it arrived (RFC 9110 §6.6.1).
  var date: Double { date("Date") ?? respondedAt }

  /// The time in a field; nil if it is missing or invalid.
  func date(_ name: String) -> Double? {
    head.fields[name].flatMap { HTTPDate.seconds($0, now: DeltaSeconds.whole(respondedAt)) }.map(Double.init)
  }

  /// The age of the response in seconds (RFC 9111 §4.2.3); never negative, even if clocks jump.
  package func age(at now: Double) -> Double {
    let apparent = max(0, respondedAt - date)
    let delay = max(0, respondedAt - requestedAt)
    let corrected = Double(head.fields.seconds("Age") ?? 0) + delay
    let resident = max(0, now - respondedAt)
    return max(apparent, corrected) + resident
  }
}

extension HTTPFields {
  /// The seconds in a field; nil if it is missing or no number.
  ///
  /// Of several numbers, the first counts (RFC 9111 §5.1).
  func seconds(_ name: String) -> Int? {
    self[name].flatMap { DeltaSeconds.parse($0.prefix { $0 != "," }) }
  }
}

/// Numbers of seconds (RFC 9111 §1.2.2).
package enum DeltaSeconds {
  /// Stands for any greater number.
  static let maximum = 1 << 31

  /// Whole seconds, limited so that no sum overflows.
  package static func whole(_ seconds: Double) -> Int { Milliseconds.count(seconds) / 1000 }

  static func parse(_ text: Substring) -> Int? {
    let digits = text.trimmed.utf8
    guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return digits.reduce(0) { min($0 * 10 + Int($1 - 48), maximum) }
  }
}

extension StoredResponse {
  /// The stored response after a response to a conditional request or to HEAD (RFC 9111 §4.3.4, §4.3.5).
  ///
  /// - Parameters:
  ///   - response: The response to the request.
  ///   - size: The length of the stored body.
  /// - Returns: Nil if the response is neither a 304 about this version nor a 200.
  package func validated(by response: StoredResponse, size: Int) -> StoredResponse? {
    switch response.head.status {
    case 304: Validators(of: self).match(notModified: response.head.fields) ? updated(by: response) : nil
    case 200: updated(byHead: response, size: size)
    default: nil
    }
  }

  /// The stored response after a 304, whose fields and time replace the stored ones (RFC 9111 §4.3.4).
  package func updated(by response: StoredResponse) -> StoredResponse {
    let fields = response.head.fields.storable.fields.filter { !Self.bound.contains($0.name.lowercased()) }
    let replaced = Set(fields.map { $0.name.lowercased() })
    var head = head
    // The age of the old response does not hold for the new one (§4.2.3).
    head.fields.fields.removeAll { replaced.contains($0.name.lowercased()) || $0.name.lowercased() == "age" }
    head.fields.fields += fields
    return StoredResponse(
      head: head,
      varied: varied,
      requestedAt: response.requestedAt,
      respondedAt: response.respondedAt
    )
  }

  /// Fields that describe the stored bytes; those of a 304 are ignored (RFC 9111 §3.2).
  private static let bound: Set<String> = [
    "content-length", "content-encoding", "content-type", "content-range",
  ]
}

extension StoredResponse {
  /// The fields to forward to a client.
  ///
  /// - Parameter now: Seconds since 1970, for the `Age` of a stored response; nil for a response that is arriving.
  /// - Returns: The fields with a date, without those of the connection and without `Content-Length`.
  package func forwardedFields(at now: Double? = nil) -> HTTPFields {
    var fields = head.fields.storable.fields.compactMap {
      $0.isNamed("content-length") || now != nil && $0.isNamed("age") ? nil : $0.wellFormed
    }
    func append(_ name: String, _ value: String) { fields.append(.init(name: name, value: value)) }
    // A response without a date gets the time at which it arrived (RFC 9110 §6.6.1).
    if !fields.contains(where: { $0.isNamed("date") }) {
      append("Date", HTTPDate.text(DeltaSeconds.whole(respondedAt)))
    }
    if let now { append("Age", String(DeltaSeconds.whole(age(at: now)))) }
    return HTTPFields(fields)
  }
}

extension HTTPFields {
  /// The fields without those of one connection or message (RFC 9111 §3.1).
  package var storable: HTTPFields {
    let connection = self["Connection"] ?? ""
    // The usual values name no other field.
    let listed =
      connection == "keep-alive" || connection == "close"
      ? [] : connection.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    return HTTPFields(
      fields.filter { field in
        !Self.connectionFields.contains { field.isNamed($0) } && !listed.contains { field.isNamed($0) }
      }
    )
  }

  /// RFC 9110 §7.6.1 and RFC 9111 §3.1.
  private static let connectionFields = [
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
  ]
}

extension StoredResponse {
  /// The stored response after a 200 to HEAD (RFC 9111 §4.3.5).
  ///
  /// If its validators and its length match, it updates the stored response like a 304. Otherwise the image has
  /// changed, and the stored response becomes stale.
  package func updated(byHead head: StoredResponse, size: Int) -> StoredResponse {
    let validators = Validators(of: self)
    let isSameLength = head.head.contentLength.map { $0 == size } ?? true
    guard head.head.status == 200, isSameLength, validators.match(notModified: head.head.fields) else {
      return outdated
    }
    return updated(by: head)
  }

  /// The same response, stale.
  private var outdated: StoredResponse {
    var copy = self
    let freshness: Set<String> = ["cache-control", "expires", "pragma"]
    copy.head.fields.fields.removeAll { freshness.contains($0.name.lowercased()) }
    copy.head.fields.fields.append(HTTPFields.Field(name: "Cache-Control", value: "no-cache"))
    return copy
  }
}

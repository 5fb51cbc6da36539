package import FeedimgModel

/// Whether a private cache may use a stored response without validation (RFC 9111 §4).
///
/// A cached image is shown in any case. For images, freshness only decides whether showing one starts a revalidation.
/// `GET /v1/fetch` follows it strictly.
package struct Freshness: Sendable, Hashable {
  /// The permitted use of a stored response.
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// Usable without validation.
    case fresh
    /// Usable now, while it is validated (RFC 5861 §3).
    case staleWhileRevalidate = "stale-while-revalidate"
    /// Usable if the validation fails (RFC 5861 §4).
    case staleIfError = "stale-if-error"
    /// The response says nothing about freshness. It is stale, but an image may be shown while it is validated.
    case unspecified
    /// Usable after validation, or if the server cannot be reached (RFC 9111 §4.2.4).
    case stale
    /// Unusable without validation, even if the server cannot be reached.
    case mustRevalidate = "must-revalidate"
  }

  package var state: State
  /// The rule that decided and its source, such as `max-age=60 (RFC 9111 §5.2.2.1)`.
  package var reason: String
  package var lifetime: FreshnessLifetime
  /// In seconds.
  package var age: Double

  /// The seconds until the response becomes stale; negative if it is stale.
  package var left: Double { lifetime.seconds - age }

  /// - Parameters:
  ///   - response: The stored response, which ``Vary`` allows for the request.
  ///   - request: The directives of the request.
  ///   - now: Seconds since 1970.
  package init(of response: StoredResponse, for request: CacheControl = CacheControl(""), at now: Double) {
    lifetime = FreshnessLifetime(of: response)
    age = response.age(at: now)
    let rules = FreshnessRules(
      control: CacheControl(response.head.fields),
      request: request,
      fields: response.head.fields,
      lifetime: lifetime,
      age: age
    )
    (state, reason) = rules.first
  }
}

/// How long a response is fresh, and by which rule (RFC 9111 §4.2.1, §4.2.2).
package struct FreshnessLifetime: Sendable, Hashable {
  /// The rule that decided.
  package enum Rule: String, Sendable, Hashable, CaseIterable {
    /// `Cache-Control: max-age` (§5.2.2.1).
    case maxAge = "max-age"
    /// `Expires` less `Date` (§5.3).
    case expires = "Expires"
    /// A tenth of the time since `Last-Modified`, at most a day (§4.2.2).
    case heuristic = "Last-Modified"
    /// The response has an invalid value, so that it is stale (§4.2.1).
    case invalid = "invalid"
    /// The response says nothing about freshness.
    case silent = "none"
  }

  package var seconds: Double
  package var rule: Rule

  /// The fraction of the time since the last change (RFC 9111 §4.2.2).
  static let heuristicShare = 0.1
  /// The longest heuristic lifetime, in seconds.
  ///
  /// The images of feeds rarely change under their URL, and a day is soon enough to notice a change.
  static let maximumHeuristic = 86_400.0

  package init(of response: StoredResponse) {
    let fields = response.head.fields
    let control = CacheControl(fields)
    if control.has("max-age") {
      let seconds = control.seconds("max-age")
      self.init(seconds: Double(seconds ?? 0), rule: seconds == nil ? .invalid : .maxAge)
    } else if fields["Expires"] != nil {
      // An invalid date, above all 0, means the past (§5.3).
      let date = response.date("Expires")
      self.init(seconds: max(0, (date ?? 0) - response.date), rule: date == nil ? .invalid : .expires)
    } else if let changed = response.date("Last-Modified"), Self.allowsHeuristic(response.head.status) {
      let share = max(0, response.date - changed) * Self.heuristicShare
      self.init(seconds: min(share, Self.maximumHeuristic), rule: .heuristic)
    } else {
      self.init(seconds: 0, rule: .silent)
    }
  }

  private init(seconds: Double, rule: Rule) {
    self.seconds = seconds
    self.rule = rule
  }

  /// Whether a response with this status may be fresh by heuristics (RFC 9110 §15.1).
  static func allowsHeuristic(_ status: Int) -> Bool {
    [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }
}

/// The rules of freshness in their order; the first that applies decides (pure).
struct FreshnessRules {
  /// The directives of the response.
  var control: CacheControl
  /// The directives of the request.
  var request: CacheControl
  var fields: HTTPFields
  var lifetime: FreshnessLifetime
  var age: Double

  typealias Verdict = (Freshness.State, String)

  private var left: Double { lifetime.seconds - age }
  private var staleFor: Double { max(0, -left) }

  var first: Verdict { forbidden ?? unwanted ?? fresh ?? bound ?? permitted ?? stale }

  /// Responses that must be validated even while they are fresh.
  private var forbidden: Verdict? {
    // With arguments, it concerns single fields only (§5.2.2.4). A validation is then one request more than needed.
    if control.has("no-cache") { return (.mustRevalidate, "no-cache (RFC 9111 §5.2.2.4)") }
    if request.has("no-cache") { return (.mustRevalidate, "no-cache in the request (RFC 9111 §5.2.1.4)") }
    // `Pragma` counts only without `Cache-Control` (§5.4).
    guard control.isEmpty, CacheControl(fields["Pragma"] ?? "").has("no-cache") else { return nil }
    return (.mustRevalidate, "Pragma: no-cache (RFC 9111 §5.4)")
  }

  /// Responses that are not fresh enough for the request.
  private var unwanted: Verdict? {
    if let limit = request.seconds("max-age"), age > Double(limit), !request.has("max-stale") {
      // A reload does not make a response stale that never changes (RFC 8246 §2).
      if left > 0, control.has("immutable") { return (.fresh, "immutable (RFC 8246 §2)") }
      return (overdue, "max-age=\(limit) in the request (RFC 9111 §5.2.1.1)")
    }
    if let wish = request.seconds("min-fresh"), left < Double(wish) {
      return (overdue, "min-fresh=\(wish) in the request (RFC 9111 §5.2.1.3)")
    }
    return nil
  }

  private var overdue: Freshness.State {
    left <= 0 && control.has("must-revalidate") ? .mustRevalidate : .stale
  }

  private var fresh: Verdict? { left > 0 ? (.fresh, lifetimeReason) : nil }

  /// Stale responses that must be validated.
  private var bound: Verdict? {
    control.has("must-revalidate") ? (.mustRevalidate, "must-revalidate (RFC 9111 §5.2.2.2)") : nil
  }

  /// Stale responses that may be used.
  private var permitted: Verdict? {
    if let argument = request["max-stale"] {
      let limit = DeltaSeconds.parse(argument[...])
      // Without an argument, any age is accepted. An invalid argument accepts none.
      if argument.isEmpty { return (.fresh, "max-stale in the request (RFC 9111 §5.2.1.2)") }
      if let limit, staleFor <= Double(limit) {
        return (.fresh, "max-stale=\(limit) in the request (RFC 9111 §5.2.1.2)")
      }
    }
    if let limit = control.seconds("stale-while-revalidate"), staleFor < Double(limit) {
      return (.staleWhileRevalidate, "stale-while-revalidate=\(limit) (RFC 5861 §3)")
    }
    if let limit = request.seconds("stale-if-error"), staleFor < Double(limit) {
      return (.staleIfError, "stale-if-error=\(limit) in the request (RFC 5861 §4)")
    }
    if let limit = control.seconds("stale-if-error"), staleFor < Double(limit) {
      return (.staleIfError, "stale-if-error=\(limit) (RFC 5861 §4)")
    }
    let isSilent = lifetime.rule == .silent && control.isEmpty && fields["Pragma"] == nil
    return isSilent ? (.unspecified, "no freshness information (RFC 9111 §4.2.2)") : nil
  }

  private var stale: Verdict { (.stale, lifetimeReason) }

  private var lifetimeReason: String {
    let seconds = Int(min(lifetime.seconds, 1e12))
    return switch lifetime.rule {
    case .maxAge: "max-age=\(seconds) (RFC 9111 §5.2.2.1)"
    case .expires: "Expires, \(seconds) s after Date (RFC 9111 §5.3)"
    case .heuristic: "a tenth of the age at Last-Modified, \(seconds) s (RFC 9111 §4.2.2)"
    case .invalid: "invalid freshness information (RFC 9111 §4.2.1)"
    case .silent: "no freshness (RFC 9111 §4.2.2)"
    }
  }
}

/// The directives of `Cache-Control` (RFC 9111 §5.2).
package struct CacheControl: Sendable, Hashable {
  /// Names in lower case with their arguments, which may be empty.
  private var directives: [String: String] = [:]

  package init(_ fields: HTTPFields) {
    self.init(fields["Cache-Control"] ?? "")
  }

  /// Parses a list of directives, without invalid ones.
  package init(_ text: String) {
    guard !text.isEmpty else { return }
    for element in QuotedList.split(text) {
      let parts = element.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0].trimmed.lowercased()
      guard !name.isEmpty else { continue }
      let argument = parts.count > 1 ? QuotedList.unquoted(parts[1].trimmed) : ""
      // The first of several directives with one name counts (§4.2.1).
      if directives[name] == nil { directives[name] = argument }
    }
  }

  /// Whether there is such a directive, with any argument.
  package func has(_ name: String) -> Bool { directives[name] != nil }

  var isEmpty: Bool { directives.isEmpty }

  /// The argument in seconds; nil if there is no such directive or its argument is no number.
  func seconds(_ name: String) -> Int? { directives[name].flatMap { DeltaSeconds.parse($0[...]) } }

  /// The argument, which may be empty; nil if there is no such directive.
  package subscript(name: String) -> String? { directives[name] }
}

/// Lists separated by commas, whose elements may contain quoted commas (RFC 9110 §5.6.1, §5.6.4).
enum QuotedList {
  static func split(_ text: String) -> [Substring] {
    var elements: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.indices {
      switch text[index] {
      case _ where isEscaped: isEscaped = false
      case "\\" where isQuoted: isEscaped = true
      case "\"": isQuoted.toggle()
      case "," where !isQuoted:
        elements.append(text[start..<index])
        start = text.index(after: index)
      default: break
      }
    }
    return elements + [text[start...]]
  }

  /// The content of a quoted string; other text unchanged.
  static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
    var content = ""
    var isEscaped = false
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        content.append(character)
        isEscaped = false
      }
    }
    return content
  }
}

extension Substring {
  /// The text without the optional whitespace around it (RFC 9110 §5.6.3).
  package var trimmed: Substring {
    let start = drop { $0 == " " || $0 == "\t" }
    return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
  }
}

package import FeedimgJSON

extension Resolution {
  /// The decision with its facts, as one line of JSON.
  public var json: String { jsonValue.text(.compact) }

  package var jsonValue: JSONValue {
    var object = JSONObject()
    if let id = item.id { object.append("id", .string(id)) }
    object.append(decisionMembers)
    object.append("url", .optional(url?.description))
    object.append(reasonMembers)
    if decision.image == .placeholder { object.append("placeholder", item.placeholder.jsonValue) }
    object.append("facts", .object(Self.members(of: facts[...])))
    return .object(object)
  }

  // The members in the order of ``jsonValue``, without the item's own, so that many items share them.

  package var decisionMembers: JSONObject { decision.members(of: DecisionPart.images) }

  package var reasonMembers: JSONObject {
    var object = decision.members(of: DecisionPart.columnsInJSON)
    object.append([
      "policy": .string(policy), "rule": .integer(decision.rule), "place": .string(place),
      "why": .string(why),
    ])
    return object
  }

  package static func members(of facts: ArraySlice<FactReading>) -> JSONObject {
    JSONObject(facts.map { ($0.name, ["value": .string($0.value), "source": .string($0.source)]) })
  }
}

extension DecisionPart {
  /// The columns that are members in JSON.
  ///
  /// JSON omits the priority, because only prefetching uses it.
  fileprivate static let columnsInJSON = columns.filter { $0 != .priority }
}

extension Decision {
  /// The members of a decision about states: rule, image, source, show, load, then the columns.
  package var members: JSONObject {
    members(of: [.rule] + DecisionPart.images + DecisionPart.columnsInJSON)
  }

  /// The members of some parts: strings, and the number of the rule.
  package func members(of parts: [DecisionPart]) -> JSONObject {
    JSONObject(parts.map { ($0.rawValue, $0 == .rule ? .integer(rule) : .string($0.value(in: self))) })
  }
}

extension FeedItem {
  /// The item as one line of JSON, which ``items(json:)`` reads.
  ///
  /// `variants` is present if the feed has sizes or types of the images.
  public var json: String { jsonValue.text(.compact) }

  package var jsonValue: JSONValue {
    var object = JSONObject()
    if let id { object["id"] = .string(id) }
    if kind != .picture { object["kind"] = .string(kind.rawValue) }
    object["originalImage"] = .optional(original?.url.text)
    object["thumbnailImage"] = .optional(thumbnail?.url.text)
    let variants = [original, thumbnail].compactMap { $0 } + sizes
    if variants.contains(where: \.hasDetails) { object["variants"] = .array(variants.map(\.jsonValue)) }
    if let alternativeText { object["alt"] = .string(alternativeText) }
    if let page { object["page"] = .string(page) }
    if !placeholder.isEmpty { object["placeholder"] = placeholder.jsonValue }
    return .object(object)
  }
}

extension ImageVariant {
  var hasDetails: Bool { width != nil || height != nil || size != nil || mediaType != nil }

  package var jsonValue: JSONValue {
    var object: JSONObject = ["role": .string(role.rawValue), "url": .string(url.text)]
    if let width { object["width"] = .integer(width) }
    if let height { object["height"] = .integer(height) }
    if let size { object["bytes"] = .integer(size.bytes) }
    if let mediaType { object["type"] = .string(mediaType) }
    return .object(object)
  }
}

extension Placeholder {
  package var jsonValue: JSONValue {
    var object = JSONObject()
    if let blurHash { object["blurhash"] = .string(blurHash) }
    if let thumbHash { object["thumbhash"] = .string(thumbHash) }
    if let color { object["color"] = .string(color) }
    return .object(object)
  }
}

extension LoadedImage {
  /// The decision and its result, as one line of JSON.
  ///
  /// `image` and `source` name the image that was loaded. They differ from the decision if the original failed and
  /// the thumbnail took its place.
  public var json: String { jsonValue.text(.compact) }

  package var jsonValue: JSONValue {
    guard case .object(var object) = resolution.jsonValue else { return .null }
    object["image"] = .string(variant.role.rawValue)
    object["source"] = .string(source == .network ? "network" : "cache")
    object["url"] = .string(variant.url.description)
    object["variant"] = .string(variant.role.rawValue)
    object["tier"] = .string(source.rawValue)
    object["path"] = .optional(path)
    object["bytes"] = .integer(bytes.count)
    object["mediaType"] = .string(mediaType)
    object["animated"] = .bool(isAnimated)
    object["freshness"] = freshness?.jsonValue ?? .null
    object["notes"] = .array(notes.map(JSONValue.string))
    return .object(object)
  }
}

extension LoadError {
  /// The decision, if one was made, and an `error` member with code and message, as one line of JSON.
  ///
  /// If only the placeholder can be shown, the text has no `error` member.
  public var json: String { jsonValue.text(.compact) }

  package var jsonValue: JSONValue {
    var object = JSONObject()
    if case .object(let decision)? = resolution?.jsonValue { object = decision }
    if code == .nothingToShow {
      object["variant"] = "placeholder"
      return .object(object)
    }
    object["error"] = [
      "code": .string(code.rawValue), "message": .string(message), "url": .optional(url?.description),
      "status": status.map { .integer($0) } ?? .null,
    ]
    return .object(object)
  }
}

extension NetworkState {
  /// The state as one line of JSON.
  public var json: String { jsonValue.text(.compact) }

  package var jsonValue: JSONValue {
    var object: JSONObject = [
      "kind": .string(kind.rawValue), "metered": .string(metered.rawValue), "device": .optional(device),
      "via": .array(via.map(JSONValue.string)), "route": .optional(route), "reason": .string(reason),
      "meteredReason": .string(meteredReason), "reachable": .bool(isReachable),
    ]
    for (name, holds) in [
      ("tether", isTethered), ("vpn", isTunnelled), ("virtual", isVirtual), ("roaming", isRoaming),
      ("captive", isCaptive),
    ] where holds {
      object[name] = true
    }
    return .object(object)
  }
}

package import FeedimgJSON

/// A result that front ends can print as JSON.
package protocol JSONConvertible {
  var jsonValue: JSONValue { get }
}

extension JSONConvertible {
  var jsonText: String { jsonValue.text(.compact) }
}

extension Resolution: JSONConvertible {
  /// The decision with its facts, as one line of JSON.
  public var json: String { jsonText }

  package var jsonValue: JSONValue {
    var object = JSONObject()
    if let id = item.id { object["id"] = .string(id) }
    object["image"] = .string(decision.image.rawValue)
    object["source"] = .string(decision.source.rawValue)
    object["show"] = .string(decision.show.rawValue)
    object["load"] = .string(decision.load?.rawValue ?? "nothing")
    object["url"] = .optional(url?.text)
    object["upgrade"] = .string(decision.upgrade.rawValue)
    object["policy"] = .string(policy)
    object["rule"] = .integer(decision.rule)
    object["place"] = .string(place)
    object["why"] = .string(why)
    if decision.image == .placeholder { object["placeholder"] = item.placeholder.jsonValue }
    object["facts"] = .object(
      JSONObject(
        facts.map { ($0.name, ["value": .string($0.value), "source": .string($0.source)]) }
      )
    )
    return .object(object)
  }
}

extension Placeholder: JSONConvertible {
  package var jsonValue: JSONValue {
    var object = JSONObject()
    if let blurHash { object["blurhash"] = .string(blurHash) }
    if let thumbHash { object["thumbhash"] = .string(thumbHash) }
    if let color { object["color"] = .string(color) }
    return .object(object)
  }
}

extension LoadedImage: JSONConvertible {
  /// The decision, and what came of it, as one line of JSON.
  ///
  /// Here `image` and `source` say what was loaded and from where, which differs from the decision where the
  /// original failed and the thumbnail took its place.
  public var json: String { jsonText }

  package var jsonValue: JSONValue {
    guard case .object(var object) = resolution.jsonValue else { return .null }
    object["image"] = .string(variant.role.rawValue)
    object["source"] = .string(source == .network ? "network" : "cache")
    object["url"] = .string(variant.url.text)
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

extension LoadError: JSONConvertible {
  /// The decision, if one was made, and an `error` member with code and message, as one line of JSON.
  ///
  /// A placeholder is no error here: it is all that there is to show.
  public var json: String { jsonText }

  package var jsonValue: JSONValue {
    var object = JSONObject()
    if case .object(let decision)? = resolution?.jsonValue { object = decision }
    if code == .nothingToShow {
      object["variant"] = "placeholder"
      return .object(object)
    }
    object["error"] = [
      "code": .string(code.rawValue), "message": .string(message), "url": .optional(url?.text),
      "status": status.map { .integer($0) } ?? .null,
    ]
    return .object(object)
  }
}

extension NetworkState: JSONConvertible {
  /// The state as one line of JSON.
  public var json: String { jsonText }

  package var jsonValue: JSONValue {
    var object = JSONObject()
    object["kind"] = .string(kind.rawValue)
    object["metered"] = .string(metered.rawValue)
    object["device"] = .optional(device)
    object["via"] = .array(via.map(JSONValue.string))
    object["route"] = .optional(route)
    object["reason"] = .string(reason)
    object["meteredReason"] = .string(meteredReason)
    object["reachable"] = .bool(isReachable)
    for (name, holds) in [
      ("tether", isTethered), ("vpn", isTunnelled), ("virtual", isVirtual), ("roaming", isRoaming),
      ("captive", isCaptive),
    ] where holds {
      object[name] = .bool(true)
    }
    return .object(object)
  }
}

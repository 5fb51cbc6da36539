package import FeedimgJSON
import FeedimgModel

extension PolicyDiff {
  /// The comparison as an object.
  package var json: JSONValue {
    [
      "from": .string(from),
      "to": .string(to),
      "states": .integer(stateCount),
      "differ": .integer(differingCount),
      "loadLess": .integer(lessCount),
      "loadMore": .integer(moreCount),
      "changes": .array(changes.map(\.json)),
    ]
  }
}

extension PolicyDiff.Change {
  fileprivate var json: JSONValue {
    [
      "from": from.json,
      "to": to.json,
      "loads": .string(weight > 0 ? "more" : weight < 0 ? "less" : "same"),
      "states": .integer(stateCount),
      "boxes": .array(boxes.map(JSONValue.string)),
      "witness": witness.json,
    ]
  }
}

extension PolicyDiff.Look {
  fileprivate var json: JSONValue {
    [
      "image": .string(image.rawValue),
      "show": .string(show.rawValue),
      "load": .string(load?.rawValue ?? "nothing"),
    ]
  }
}

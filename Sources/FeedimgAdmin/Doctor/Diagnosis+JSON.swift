import FeedimgJSON

extension Diagnosis {
  /// The findings as one line of JSON.
  ///
  /// - Parameter hasEvidence: Whether the evidence is part of it.
  /// - Returns: One object.
  public func json(withEvidence hasEvidence: Bool = false) -> String {
    var object = JSONObject([("works", .bool(canWork))])
    object["findings"] = .array(
      findings.map {
        [
          "subject": .string($0.subject), "verdict": .string($0.verdict.rawValue), "text": .string($0.text),
          "fatal": .bool($0.isFatal),
        ]
      }
    )
    if hasEvidence { object["evidence"] = .array(evidence.map(JSONValue.string)) }
    return JSONValue.object(object).text(.compact)
  }
}

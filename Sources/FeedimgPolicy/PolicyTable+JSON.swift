package import FeedimgJSON
import FeedimgModel

extension PolicyTable {
  /// The policy in JSON, as ``PolicySchema`` describes it.
  ///
  /// Omits prose and line numbers. ``init(name:fileName:json:facts:)`` reads the rest back.
  package var json: JSONValue {
    var members: [(String, JSONValue)] = [("policy", .string(name))]
    let facts = declaredFacts
    if !facts.isEmpty {
      let declarations = facts.map { fact -> JSONValue in
        ["name": .string(fact.name), "values": .array(fact.values.map(JSONValue.string))]
      }
      members.append(("facts", .array(declarations)))
    }
    members.append(("rules", .array(rules.map(\.json))))
    if !promises.isEmpty { members.append(("promises", .array(promises.map(\.json)))) }
    return .object(JSONObject(members))
  }

  /// The facts of the host application that the policy uses.
  private var declaredFacts: [HostFact] {
    let conditions = rules.flatMap(\.conditions) + promises.flatMap(\.conditions)
    let asked = Set(conditions.map(\.fact))
    return hostFacts.filter { asked.contains(.host($0)) }
  }
}

extension Rule {
  fileprivate var json: JSONValue {
    let when = JSONObject(conditions.map { ($0.fact.name, cellJSON($0.text)) })
    let columns = OutcomeColumn.all.compactMap { column in
      column.word(outcome).map { (column.name, JSONValue.string($0)) }
    }
    return .object(JSONObject([("when", .object(when))] + columns))
  }
}

extension PolicyPromise {
  fileprivate var json: JSONValue {
    [
      "when": .object(JSONObject(conditions.map { ($0.fact.name, cellJSON($0.text)) })),
      "expect": .object(JSONObject(expectations.map { ($0.part.rawValue, cellJSON($0.text)) })),
    ]
  }
}

/// A cell as a string, an array of strings, or either under `not`.
private func cellJSON(_ text: String) -> JSONValue {
  guard !text.hasPrefix("not ") else { return ["not": cellJSON(String(text.dropFirst(4)))] }
  let parts = text.listed.map(JSONValue.string)
  return parts.count == 1 ? parts[0] : .array(parts)
}

extension PolicyTable {
  /// Reads a policy in JSON, as ``PolicySchema`` describes it; its member `policy` is for people only.
  ///
  /// - Throws: ``PolicyErrors`` with all problems, each with its field.
  package init(
    name: String,
    fileName: String,
    json: [UInt8],
    facts catalog: FactCatalog = .standard
  ) throws(PolicyErrors) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONReader.value(in: json)
    } catch {
      throw PolicyErrors(
        PolicyError(file: fileName, line: error.line, column: error.column, error.message)
      )
    }
    var reader = PolicyJSONReader(file: fileName, catalog: catalog)
    let (rules, promises) = reader.read(value)
    try reader.problems.check()
    self.name = name
    self.fileName = fileName
    self.rules = rules
    self.promises = promises
    hostFacts = reader.catalog.hostFacts
  }
}

/// Reads the JSON form member by member and collects its problems.
private struct PolicyJSONReader {
  let file: String
  var catalog: FactCatalog
  var problems: ProblemList

  init(file: String, catalog: FactCatalog) {
    self.file = file
    self.catalog = catalog
    problems = ProblemList(file: file)
  }

  mutating func read(_ value: JSONValue) -> (rules: [Rule], promises: [PolicyPromise]) {
    guard
      let policy = members(
        of: value,
        at: "",
        known: ["rules"],
        optional: ["$schema", "policy", "description", "facts", "promises"]
      )
    else { return ([], []) }
    if let facts = policy["facts"] { declare(facts) }
    let rules = elements(policy["rules"], at: "rules") { $0.rule($1, number: $2, at: $3) }
    if policy["rules"] == .array([]) { add("rules", "there are no rules") }
    let promises = elements(policy["promises"], at: "promises") { $0.promise($1, number: $2, at: $3) }
    return (rules, promises)
  }

  // MARK: Parts

  private mutating func declare(_ value: JSONValue) {
    let declared = elements(value, at: "facts") { reader, element, _, path -> HostFact? in
      guard let fact = reader.members(of: element, at: path, known: ["name", "values"]) else { return nil }
      let name = reader.text(fact["name"], at: "\(path).name") ?? ""
      let values = reader.elements(fact["values"], at: "\(path).values") { $0.text($1, at: $3) }
      return HostFact(name: name, values: values)
    }
    let known = declared.filter { fact in !catalog.hostFacts.contains(fact) }
    do throws(FactError) {
      catalog = try FactCatalog(hosting: catalog.hostFacts + known)
    } catch {
      add("facts", error.description)
    }
  }

  private mutating func rule(_ value: JSONValue, number: Int, at path: String) -> Rule {
    var outcome = Outcome()
    var conditions: [Condition] = []
    let optional = ["when"] + OutcomeColumn.all.filter { !$0.isRequired }.map(\.name)
    if let rule = members(of: value, at: path, known: OutcomeColumn.required, optional: optional) {
      conditions = self.conditions(rule["when"], at: "\(path).when")
      for column in OutcomeColumn.all {
        let path = "\(path).\(column.name)"
        guard let value = rule[column.name], let text = text(value, at: path) else { continue }
        read(path) { () throws(FactError) in try column.read(text, into: &outcome) }
      }
    }
    return Rule(number: number, line: nil, conditions: conditions, outcome: outcome)
  }

  private mutating func promise(_ value: JSONValue, number: Int, at path: String) -> PolicyPromise {
    var conditions: [Condition] = []
    var expectations: [Expectation] = []
    if let promise = members(of: value, at: path, known: ["expect"], optional: ["when"]) {
      conditions = self.conditions(promise["when"], at: "\(path).when")
      let parts = DecisionPart.allCases.filter { $0 != .rule }
      let expected = members(
        of: promise["expect"] ?? .null,
        at: "\(path).expect",
        known: [],
        optional: parts.map(\.rawValue)
      )
      for part in parts {
        let path = "\(path).expect.\(part.rawValue)"
        guard let value = expected?[part.rawValue], let cell = cell(value, at: path) else { continue }
        let expectation = read(path) { () throws(FactError) in try Expectation.read(cell, of: part) }
        if let expectation { expectations.append(expectation) }
      }
    }
    return PolicyPromise(number: number, line: nil, conditions: conditions, expectations: expectations)
  }

  private mutating func conditions(_ value: JSONValue?, at path: String) -> [Condition] {
    guard let value else { return [] }
    let names = catalog.facts.map(\.name)
    guard let cells = members(of: value, at: path, known: [], optional: names, kind: "fact") else {
      return []
    }
    var conditions: [Condition] = []
    for fact in catalog.facts {
      let path = "\(path).\(fact.name)"
      guard let value = cells[fact.name], let cell = cell(value, at: path) else { continue }
      let condition = read(path) { () throws(FactError) in try Condition.read(cell, of: fact) }
      if let condition { conditions.append(condition) }
    }
    return conditions
  }

  /// A string, an array of strings, or either under `not`, as the text of a cell.
  private mutating func cell(_ value: JSONValue, at path: String) -> String? {
    switch value {
    case .string(let text):
      return text
    case .array(let elements):
      let texts = elements.enumerated().compactMap { text($1, at: "\(path)[\($0)]") }
      return texts.count == elements.count ? texts.joined(separator: ", ") : nil
    case .object:
      guard let not = members(of: value, at: path, known: ["not"])?["not"] else { return nil }
      if case .object = not {
        add("\(path).not", "expected a string or an array, found an object")
        return nil
      }
      return cell(not, at: "\(path).not").map { "not " + $0 }
    default:
      add(path, "expected a string, an array or an object with `not`, found \(value.kind)")
      return nil
    }
  }

  // MARK: Members

  /// The members of an object.
  ///
  /// Reports missing and unknown members.
  private mutating func members(
    of value: JSONValue,
    at path: String,
    known: [String],
    optional: [String] = [],
    kind: String = "member"
  ) -> JSONObject? {
    guard case .object(let object) = value else {
      add(path, "expected an object, found \(value.kind)")
      return nil
    }
    var seen: Set<String> = []
    for member in object.members {
      let place = path.isEmpty ? member.name : "\(path).\(member.name)"
      if !(known + optional).contains(member.name) {
        let near = Spelling.nearest(to: member.name, among: known + optional)
        add(path, "unknown \(kind) \(member.name.quoted)", suggestion: near)
      } else if !seen.insert(member.name).inserted {
        add(place, "appears twice")
      }
    }
    for name in known where object[name] == nil { add(path, "missing member `\(name)`") }
    return object
  }

  /// Reads the elements of an array; the closure receives each with its number and its field.
  private mutating func elements<Element>(
    _ value: JSONValue?,
    at path: String,
    _ read: (inout Self, JSONValue, Int, String) -> Element?
  ) -> [Element] {
    guard let value else { return [] }
    guard case .array(let elements) = value else {
      add(path, "expected an array, found \(value.kind)")
      return []
    }
    guard elements.count <= MarkdownTable.maximumRowCount else {
      add(path, "more than \(MarkdownTable.maximumRowCount) elements")
      return []
    }
    return elements.enumerated().compactMap { read(&self, $1, $0 + 1, "\(path)[\($0)]") }
  }

  private mutating func text(_ value: JSONValue?, at path: String) -> String? {
    guard let value else { return nil }
    guard let text = value.text else {
      add(path, "expected a string, found \(value.kind)")
      return nil
    }
    return text
  }

  /// Reads a value, or lists why it cannot be read.
  @discardableResult
  private mutating func read<Value>(_ path: String, _ read: () throws(FactError) -> Value?) -> Value? {
    do throws(FactError) {
      return try read()
    } catch {
      add(path, error.message, suggestion: error.suggestion)
      return nil
    }
  }

  private mutating func add(_ path: String, _ message: String, suggestion: String? = nil) {
    var problem = PolicyError(file: file, message, suggestion: suggestion)
    problem.field = path.isEmpty ? nil : path
    problems.add(problem)
  }
}

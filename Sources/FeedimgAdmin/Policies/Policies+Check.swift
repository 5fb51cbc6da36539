import Feedimg
import FeedimgJSON
import FeedimgPolicy

extension Policies {
  /// One thing that a check found.
  public struct Remark: Sendable, Hashable {
    /// Whether a policy with it cannot be in force.
    public var isError: Bool
    /// One line with the place, and before it `error   ` or `warning ` for what was found by going through all states.
    public var text: String
  }

  /// What the check of one policy came to.
  public struct Verdict: Sendable {
    /// How it came out.
    public enum Outcome: Sendable, Hashable {
      /// In order; there may be warnings.
      case ok
      /// It can be read, and there is something wrong with it.
      case errors
      /// Nothing can be read.
      case unreadable
    }

    /// How it came out.
    public var outcome: Outcome
    /// Such as `default: 6 rules, 4 facts, 90 states`; nil where no table could be read.
    public var headline: String?
    /// Errors first.
    public var remarks: [Remark]
    /// Such as `ok: total, 6 of 6 rules reached, offline never loads`; nil where there are errors.
    public var summary: String?
    /// The same as one line of JSON.
    public var json: String
  }

  /// Checks policies in every state that their rules can tell apart.
  ///
  /// - Parameters:
  ///   - arguments: Names, files and folders; none for all policies of the shelf.
  ///   - isStrict: Whether warnings are errors.
  /// - Returns: One verdict for each policy, in the order of the arguments; of a folder the default comes first.
  public func check(_ arguments: [String] = [], isStrict: Bool = false) -> [Verdict] {
    let arguments = arguments.isEmpty ? shelf.names() : arguments
    return arguments.flatMap { argument in
      do throws(PolicyFault) {
        return try texts(of: argument).map { Verdict($0, shelf.facts, isStrict: isStrict) }
      } catch {
        return [Verdict(error, name: PolicyFile(path: argument).name)]
      }
    }
  }

  /// What an argument stands for: a policy, or those of a folder.
  private func texts(of argument: String) throws(PolicyFault) -> [PolicyContent] {
    let file = PolicyFile(path: argument)
    if file.holdsCases {
      throw PolicyFault(["\(argument): holds cases, which `feedimg policy test` runs"], isUnreadable: true)
    }
    guard file.isFolder else { return try shelf.selection(of: argument).text().map { [$0] } ?? [] }
    let files = try PolicyFile.files(in: argument).filter(\.holdsPolicy)
      .sorted { PolicyShelf.precedes($0.name, $1.name) }
    guard !files.isEmpty else {
      throw PolicyFault(["\(argument): no policies in the folder"], isUnreadable: true)
    }
    return files.map { file in
      let source = PolicySource(name: file.name, layer: .given, file: file)
      return PolicyContent(source: source, reading: file.reading)
    }
  }
}

extension Policies.Verdict {
  init(_ text: PolicyContent, _ facts: FactCatalog, isStrict: Bool) {
    let source = text.source
    switch text.reading {
    case .nothing:
      self.init(PolicyFault(["\(source.fileName): is gone"], isUnreadable: true), name: source.name)
    case .fault(let fault):
      self.init(fault, name: source.name)
    case .bytes(let content):
      do throws(PolicyErrors) {
        let table = try source.parse(content, facts: facts)
        do throws(PolicyErrors) {
          self.init(try PolicyReport(table), file: source.fileName, isStrict: isStrict)
        } catch {
          self.init(error, source: source, isLegible: true)
        }
      } catch {
        self.init(error, source: source, isLegible: source.isLegible(content))
      }
    }
  }

  init(_ report: PolicyReport, file: String, isStrict: Bool) {
    let isClean = isStrict ? report.findings.isEmpty : report.errors.isEmpty
    outcome = isClean ? .ok : .errors
    headline = report.headline
    remarks = report.findings.map { finding in
      let isError = isStrict || finding.severity == .error
      return Policies.Remark(
        isError: isError,
        text: (isError ? "error   " : "warning ") + finding.problem.description
      )
    }
    summary = isClean ? report.summary : nil
    var object = JSONObject([("policy", .string(report.name)), ("file", .string(file))])
    if case .object(let counts) = report.json {
      for member in counts.members { object[member.name] = member.value }
    }
    object["ok"] = .bool(isClean)
    object["findings"] = .array(
      zip(report.findings, remarks).map { finding, remark in
        guard case .object(var members) = finding.json else { return finding.json }
        members["severity"] = remark.isError ? "error" : "warning"
        return .object(members)
      }
    )
    json = JSONValue.object(object).text(.compact)
  }

  /// A text with slips.
  init(_ errors: PolicyErrors, source: PolicySource, isLegible: Bool) {
    outcome = isLegible ? .errors : .unreadable
    remarks = errors.errors.map { Policies.Remark(isError: true, text: $0.description) }
    json = Self.json(
      source.name,
      file: source.fileName,
      errors.errors.map { error in
        guard case .object(let members) = error.json else { return error.json }
        let kind: [(String, JSONValue)] = [
          ("severity", "error"), ("code", .string(isLegible ? "slip" : "unreadable")),
        ]
        return .object(JSONObject(kind + members.members.map { ($0.name, $0.value) }))
      }
    )
  }

  /// Nothing that could be read.
  init(_ fault: PolicyFault, name: String) {
    outcome = .unreadable
    remarks = fault.messages.map { Policies.Remark(isError: true, text: $0) }
    json = Self.json(
      name,
      file: nil,
      fault.messages.map { ["severity": "error", "code": "unreadable", "message": .string($0)] }
    )
  }

  private static func json(_ name: String, file: String?, _ findings: [JSONValue]) -> String {
    let value: JSONValue = [
      "policy": .string(name), "file": .optional(file), "ok": false, "findings": .array(findings),
    ]
    return value.text(.compact)
  }
}

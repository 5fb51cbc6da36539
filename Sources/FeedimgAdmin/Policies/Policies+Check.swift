import Feedimg
import FeedimgJSON
import FeedimgPolicy

extension Policies {
  /// An error or warning of a check.
  public struct Remark: Sendable, Hashable {
    /// Whether it prevents the use of the policy.
    public var isError: Bool
    /// One line with the position.
    ///
    /// A finding from the check of all states starts with `error   ` or `warning `.
    public var text: String
  }

  /// The result of the check of one policy.
  public struct Verdict: Sendable {
    /// The kind of result.
    public enum Outcome: Sendable, Hashable {
      /// The policy is valid; there may be warnings.
      case ok
      /// The policy has errors.
      case errors
      /// The file cannot be read or does not contain a policy.
      case unreadable
    }

    /// The kind of result.
    public var outcome: Outcome
    /// One line such as `default: 6 rules, 4 facts, 90 states`; nil if no table could be read.
    public var headline: String?
    /// The errors, then the warnings.
    public var remarks: [Remark]
    /// One line such as `ok: total, 6 of 6 rules reached, offline never loads`; nil if there are errors.
    public var summary: String?
    /// The result as one line of JSON.
    public var json: String
  }

  /// Checks policies in every state that their rules distinguish.
  ///
  /// - Parameters:
  ///   - arguments: Names, files and folders; none for all installed policies.
  ///   - isStrict: Whether warnings count as errors.
  /// - Returns: One result for each policy, in the order of the arguments; in a folder, the default comes
  ///   first.
  public func check(_ arguments: [String] = [], isStrict: Bool = false) -> [Verdict] {
    let arguments = arguments.isEmpty ? catalog.names() : arguments
    return arguments.flatMap { argument in
      do throws(PolicyFileError) {
        return try texts(of: argument).map { Verdict($0, catalog.facts, isStrict: isStrict) }
      } catch {
        return [Verdict(error, name: PolicyFile(path: argument).name)]
      }
    }
  }

  /// The policy that an argument names, or all policies of a folder.
  private func texts(of argument: String) throws(PolicyFileError) -> [PolicyContent] {
    let file = PolicyFile(path: argument)
    if file.holdsCases {
      throw PolicyFileError(
        ["\(argument): contains test cases; run `feedimg policy test`"],
        isUnreadable: true
      )
    }
    guard file.isFolder else { return try catalog.selection(of: argument).text().map { [$0] } ?? [] }
    let files = try PolicyFile.files(in: argument).filter(\.holdsPolicy)
      .sorted { PolicyCatalog.precedes($0.name, $1.name) }
    guard !files.isEmpty else {
      throw PolicyFileError(["\(argument): no policies in the folder"], isUnreadable: true)
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
      self.init(
        PolicyFileError(["\(source.fileName): file not found"], isUnreadable: true),
        name: source.name
      )
    case .fault(let fault):
      self.init(fault, name: source.name)
    case .bytes(let content):
      do throws(PolicyErrors) {
        let table = try source.parse(content, facts: facts)
        do throws(PolicyErrors) {
          self.init(try PolicyReport(table), file: source.fileName, isStrict: isStrict)
        } catch {
          self.init(error, source: source, isReadable: true)
        }
      } catch {
        self.init(error, source: source, isReadable: source.isReadable(content))
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
    let findings = zip(report.findings, remarks).map { finding, remark in
      finding.json.adding(["severity": remark.isError ? "error" : "warning"])
    }
    let head: JSONValue = ["policy": .string(report.name), "file": .string(file)]
    json = head.adding(report.json).adding(["ok": .bool(isClean), "findings": .array(findings)])
      .text(.compact)
  }

  /// The result for a text with syntax errors.
  init(_ errors: PolicyErrors, source: PolicySource, isReadable: Bool) {
    outcome = isReadable ? .errors : .unreadable
    remarks = errors.errors.map { Policies.Remark(isError: true, text: $0.description) }
    json = Self.json(
      source.name,
      file: source.fileName,
      errors.errors.map { error in
        let kind: JSONValue = ["severity": "error", "code": isReadable ? "slip" : "unreadable"]
        return kind.adding(error.json)
      }
    )
  }

  /// The result for a file that cannot be read.
  init(_ fault: PolicyFileError, name: String) {
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

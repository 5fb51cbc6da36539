public import Feedimg
import FeedimgJSON
import FeedimgPolicies
import FeedimgPolicy

extension Policies {
  /// The result of the test cases of one file.
  public struct TestRun: Sendable {
    /// The kind of result.
    public enum Outcome: Sendable, Hashable {
      case passed
      /// A case failed, or the cases or the policy have errors.
      case failed
      /// A file cannot be read.
      case unreadable
    }

    /// The kind of result.
    public var outcome: Outcome
    /// The name of the policy.
    public var policy: String
    /// The file of the cases.
    public var file: String
    /// One line such as `8 of 8 cases pass; rules exercised 6 of 6; states checked 15 of 90`; nil if no case
    /// ran.
    public var summary: String?
    /// One line for each failed case or error.
    public var failures: [String]
    /// The result as one line of JSON.
    public var json: String
    private let report: CaseReport?

    init(_ report: CaseReport) {
      outcome = report.failures.isEmpty ? .passed : .failed
      (policy, file) = (report.policy, report.fileName)
      summary = report.summary
      failures = report.lines
      json = report.json.text(.compact)
      self.report = report
    }

    init(_ fault: PolicyFileError, policy: String, file: String) {
      outcome = fault.isUnreadable ? .unreadable : .failed
      (self.policy, self.file) = (policy, file)
      failures = fault.messages
      let value: JSONValue = [
        "policy": .string(policy), "file": .string(file), "ok": false,
        "errors": .array(fault.messages.map(JSONValue.string)),
      ]
      json = value.text(.compact)
      report = nil
    }

    /// The results as one JUnit XML document, which continuous integration servers read.
    ///
    /// - Parameter runs: The results; those of which no case ran are omitted.
    /// - Returns: The document.
    public static func junit(_ runs: [TestRun]) -> String { CaseReport.junit(runs.compactMap(\.report)) }
  }

  /// Runs test cases, each in every state that it covers.
  ///
  /// The cases of `x.tests.md` and `x.golden.md` test the policy file `x` in the same folder. If there is
  /// none, they test the installed policy `x` or, if there is none either, the policy in force.
  ///
  /// - Parameters:
  ///   - arguments: Files of cases, policies with cases beside them, and folders; none for all installed
  ///     policies.
  ///   - policy: The name or file of another policy to test.
  /// - Returns: One result for each file of cases; at least one.
  /// - Throws: ``PolicyFileError`` if there are no cases, or an argument is invalid.
  public func test(_ arguments: [String] = [], of policy: String? = nil) throws(PolicyFileError) -> [TestRun]
  {
    let suites = try suites(arguments)
    guard !suites.isEmpty else { throw PolicyFileError(["no test cases found"], isUnreadable: true) }
    return suites.map { suite in
      var name = suite.policyName
      do throws(PolicyFileError) {
        let table = try table(for: suite, policy)
        name = table.name
        let facts = try catalog(of: table)
        let text = try suite.content.text()
        do throws(PolicyErrors) {
          let cases = try PolicyCases(fileName: suite.fileName, markdown: text, facts: facts)
          return TestRun(try CaseReport(cases, of: table))
        } catch {
          let isReadable = PolicyTable.isReadable(fileName: suite.fileName, text: text)
          throw PolicyFileError(error.errors.map(\.description), isUnreadable: !isReadable)
        }
      } catch {
        return TestRun(error, policy: name, file: suite.fileName)
      }
    }
  }

  /// Writes the current decisions of a policy in all states as a table of test cases, for a `NAME.golden.md`.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of ``test(_:of:)``; all must concern one policy.
  ///   - policy: The name or file of another policy.
  /// - Returns: Markdown; the same policy always yields the same text.
  /// - Throws: ``PolicyFileError`` if the arguments concern several policies, or the policy cannot be read or
  ///   does not cover all states.
  public func golden(_ arguments: [String] = [], of policy: String? = nil) throws(PolicyFileError) -> String {
    let table = try tableToRecord(arguments, policy)
    return try convertingErrors { () throws(PolicyErrors) in
      // Compiling fails if a state has no rule.
      _ = try CompiledPolicy(table)
      return try DecisionTable(table).golden
    }
  }

  private func tableToRecord(_ arguments: [String], _ policy: String?) throws(PolicyFileError) -> PolicyTable
  {
    if let policy { return try named(policy).table }
    // A policy without cases can be recorded too.
    if arguments.count == 1, let argument = arguments.first, !PolicyFile(path: argument).isFolder,
      !PolicyFile(path: argument).holdsCases
    {
      return try named(argument).table
    }
    let suites = try suites(arguments)
    let names = Set(suites.map(\.policyName))
    guard names.count == 1, let suite = suites.first else {
      throw PolicyFileError(["--record: expected one policy, found \(names.count)"], isUnreadable: true)
    }
    return try table(for: suite, nil)
  }
}

/// The test cases of one file, and the policy that they test.
struct CaseSuite {
  let fileName: String
  let content: PolicyReading
  /// The name of the policy, from the name of the file.
  let policyName: String
  /// The policy file beside the cases, if there is one.
  let source: PolicySource?
}

extension Policies {
  /// The test cases that the arguments name; without arguments, those of all installed policies.
  func suites(_ arguments: [String]) throws(PolicyFileError) -> [CaseSuite] {
    guard !arguments.isEmpty else {
      return catalog.names().flatMap { name in
        catalog.selection(named: name).text().map { self.suites(beside: $0.source) } ?? []
      }
    }
    var suites: [CaseSuite] = []
    for argument in arguments {
      let found = try self.suites(of: argument)
      guard !found.isEmpty else {
        let expected = "expected `\(PolicyFile(path: argument).name).tests.md` beside it"
        throw PolicyFileError(["\(argument): no test cases; \(expected)"], isUnreadable: true)
      }
      suites += found
    }
    return suites
  }

  private func suites(of argument: String) throws(PolicyFileError) -> [CaseSuite] {
    let file = PolicyFile(path: argument)
    if file.isFolder {
      let files = try PolicyFile.files(in: argument).filter(\.holdsCases)
        .sorted { PolicyCatalog.precedes($0.name, $1.name) }
      guard !files.isEmpty else {
        throw PolicyFileError(["\(argument): no test cases in the folder"], isUnreadable: true)
      }
      return files.map(suite)
    }
    if file.holdsCases { return [suite(file)] }
    return try catalog.selection(of: argument).text().map { suites(beside: $0.source) } ?? []
  }

  private func suites(beside source: PolicySource) -> [CaseSuite] {
    guard let file = source.file else {
      guard let text = ShippedPolicies.all.first(where: { $0.name == source.name })?.cases else { return [] }
      let fileName = "\(source.name).tests.md"
      return [CaseSuite(fileName: fileName, content: .bytes(text), policyName: source.name, source: source)]
    }
    return PolicyFile.caseEndings.map { PolicyFile(path: file.stem + $0) }
      .filter(\.exists)
      .map { CaseSuite(fileName: $0.path, content: $0.reading, policyName: source.name, source: source) }
  }

  /// The cases of a file, with the policy file beside it if there is one.
  private func suite(_ file: PolicyFile) -> CaseSuite {
    let beside = PolicyFile.policyEndings.map { PolicyFile(path: file.stem + $0) }
      .first(where: \.exists)
    return CaseSuite(
      fileName: file.path,
      content: file.reading,
      policyName: file.name,
      source: beside.map { PolicySource(name: file.name, layer: .given, file: $0) }
    )
  }

  /// The policy that the cases test.
  func table(for suite: CaseSuite, _ policy: String?) throws(PolicyFileError) -> PolicyTable {
    if let policy { return try named(policy).table }
    if let source = suite.source {
      return try source.table(in: source.reading.text(), facts: catalog.facts)
    }
    if let text = catalog.selection(named: suite.policyName).text() {
      return try text.source.table(in: text.reading.text(), facts: catalog.facts)
    }
    return try self.policy(configuration.policy).table
  }
}

extension PolicyFile {
  /// The path without the file name endings.
  var stem: String {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    return folder + name
  }
}

public import Feedimg
import FeedimgJSON
import FeedimgPolicies
import FeedimgPolicy

extension Policies {
  /// What came of the cases of one file.
  public struct TestRun: Sendable {
    /// How it came out.
    public enum Outcome: Sendable, Hashable {
      case passed
      /// A case failed, or there is a slip in the cases or the policy.
      case failed
      /// Nothing can be read.
      case unreadable
    }

    /// How it came out.
    public var outcome: Outcome
    /// The name of the policy.
    public var policy: String
    /// The file of the cases.
    public var file: String
    /// Such as `8 of 8 cases pass; rules exercised 6 of 6; states checked 15 of 90`; nil where nothing was run.
    public var summary: String?
    /// One line for each case that failed, or for each slip.
    public var failures: [String]
    /// The same as one line of JSON.
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

    init(_ fault: PolicyFault, policy: String, file: String) {
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

    /// Several runs as one document of JUnit's XML, which continuous integration servers read.
    ///
    /// - Parameter runs: Those that could not be run are left out.
    /// - Returns: The document.
    public static func junit(_ runs: [TestRun]) -> String { CaseReport.junit(runs.compactMap(\.report)) }
  }

  /// Runs cases, each in every state that it covers.
  ///
  /// The cases of `x.tests.md` and `x.golden.md` are those of the policy `x` beside them, else of the policy of that
  /// name, else of the policy in force.
  ///
  /// - Parameters:
  ///   - arguments: Files of cases, policies with cases beside them, and folders; none for all policies that have any.
  ///   - policy: The name or file of a policy to run them against instead.
  /// - Returns: One run for each file of cases, never none.
  /// - Throws: ``PolicyFault`` where there are no cases, or an argument was not understood.
  public func test(_ arguments: [String] = [], of policy: String? = nil) throws(PolicyFault) -> [TestRun] {
    let suites = try suites(arguments)
    guard !suites.isEmpty else { throw PolicyFault(["there are no cases to run"], isUnreadable: true) }
    return suites.map { suite in
      var name = suite.policyName
      do throws(PolicyFault) {
        let table = try table(for: suite, policy)
        name = table.name
        let facts = try catalog(of: table)
        let text = try suite.content.text()
        do throws(PolicyErrors) {
          let cases = try PolicyCases(fileName: suite.fileName, markdown: text, facts: facts)
          return TestRun(try CaseReport(cases, of: table))
        } catch {
          let isLegible = PolicyTable.isLegible(fileName: suite.fileName, text: text)
          throw PolicyFault(error.errors.map(\.description), isUnreadable: !isLegible)
        }
      } catch {
        return TestRun(error, policy: name, file: suite.fileName)
      }
    }
  }

  /// What a policy decides today as a table of cases that covers every state, for a `NAME.golden.md`.
  ///
  /// - Parameters:
  ///   - arguments: As for ``test(_:of:)``; they must be about one policy.
  ///   - policy: The name or file of the policy instead.
  /// - Returns: Markdown; the same policy always gives the same text.
  /// - Throws: ``PolicyFault`` where it is not one policy, cannot be read, or is not total.
  public func golden(_ arguments: [String] = [], of policy: String? = nil) throws(PolicyFault) -> String {
    let table = try tableToRecord(arguments, policy)
    do throws(PolicyErrors) {
      // Every state is to be in it.
      _ = try CompiledPolicy(table)
      return try GoldenTable(table).markdown
    } catch {
      throw PolicyFault(error.errors.map(\.description))
    }
  }

  private func tableToRecord(_ arguments: [String], _ policy: String?) throws(PolicyFault) -> PolicyTable {
    if let policy { return try asked(policy).table }
    // A policy that has no cases yet can be recorded all the same.
    if arguments.count == 1, let argument = arguments.first, !PolicyFile(path: argument).isFolder,
      !PolicyFile(path: argument).holdsCases
    {
      return try asked(argument).table
    }
    let suites = try suites(arguments)
    let names = Set(suites.map(\.policyName))
    guard names.count == 1, let suite = suites.first else {
      throw PolicyFault(["expected one policy to record, found \(names.count)"], isUnreadable: true)
    }
    return try table(for: suite, nil)
  }
}

/// The cases of one file, and the policy that they are meant for.
struct CaseSuite {
  let fileName: String
  let content: PolicyReading
  /// By the name of the file.
  let policyName: String
  /// Where the policy is sure to be, if anywhere.
  let source: PolicySource?
}

extension Policies {
  /// The cases that arguments stand for; none for all that policies of the shelf have beside them.
  ///
  /// - Throws: ``PolicyFault``, unreadable, for an argument without cases.
  func suites(_ arguments: [String]) throws(PolicyFault) -> [CaseSuite] {
    guard !arguments.isEmpty else {
      return shelf.names().flatMap { name in
        shelf.selection(named: name).text().map { self.suites(beside: $0.source) } ?? []
      }
    }
    var suites: [CaseSuite] = []
    for argument in arguments {
      let found = try self.suites(of: argument)
      guard !found.isEmpty else {
        let name = PolicyFile(path: argument).name
        throw PolicyFault(
          ["\(argument): no cases beside it, expected `\(name).tests.md`"],
          isUnreadable: true
        )
      }
      suites += found
    }
    return suites
  }

  private func suites(of argument: String) throws(PolicyFault) -> [CaseSuite] {
    let file = PolicyFile(path: argument)
    if file.isFolder {
      let files = try PolicyFile.files(in: argument).filter(\.holdsCases)
        .sorted { PolicyShelf.precedes($0.name, $1.name) }
      guard !files.isEmpty else {
        throw PolicyFault(["\(argument): no cases in the folder"], isUnreadable: true)
      }
      return files.map(suite)
    }
    if file.holdsCases { return [suite(file)] }
    return try shelf.selection(of: argument).text().map { suites(beside: $0.source) } ?? []
  }

  private func suites(beside source: PolicySource) -> [CaseSuite] {
    guard let file = source.file else {
      let cases = ShippedPolicies.all.first { $0.name == source.name }?.cases
      return cases.map { text in
        [
          CaseSuite(
            fileName: "\(source.name).tests.md",
            content: .bytes(text),
            policyName: source.name,
            source: source
          )
        ]
      } ?? []
    }
    return PolicyFile.caseEndings.map { PolicyFile(path: file.stem + $0) }
      .filter(\.exists)
      .map { CaseSuite(fileName: $0.path, content: $0.reading, policyName: source.name, source: source) }
  }

  /// A file of cases by itself: its policy stands beside it, if there is one.
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

  /// The policy that cases are run against.
  ///
  /// - Throws: ``PolicyFault`` where it cannot be read.
  func table(for suite: CaseSuite, _ policy: String?) throws(PolicyFault) -> PolicyTable {
    if let policy { return try asked(policy).table }
    if let source = suite.source {
      return try source.table(in: source.reading.text(), facts: shelf.facts)
    }
    if let text = shelf.selection(named: suite.policyName).text() {
      return try text.source.table(in: text.reading.text(), facts: shelf.facts)
    }
    return try inForce().table
  }

  private func inForce() throws(PolicyFault) -> AskedPolicy {
    switch configuration.policy {
    case .standard: try asked("default")
    case .named(let argument): try asked(argument)
    }
  }
}

extension PolicyFile {
  /// The path without the endings.
  var stem: String {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    return folder + name
  }
}

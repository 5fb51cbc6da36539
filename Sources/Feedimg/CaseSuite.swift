import FeedimgPolicies
import FeedimgPolicy
import FeedimgSystem

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
      .filter { $0.stamp != .missing }
      .map { CaseSuite(fileName: $0.path, content: $0.reading, policyName: source.name, source: source) }
  }

  /// A file of cases by itself: its policy stands beside it, if there is one.
  private func suite(_ file: PolicyFile) -> CaseSuite {
    let beside = PolicyFile.policyEndings.map { PolicyFile(path: file.stem + $0) }
      .first { $0.stamp != .missing }
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
      return try source.table(in: source.reading(source.stamp).text(), facts: shelf.facts)
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

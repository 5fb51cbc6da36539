/// The policy that decides, of the files that have its name, and why not another of them.
///
/// Decides only; whoever holds it reads the files, and calls ``reload(_:)`` when one of them may have changed.
package struct PolicyInForce: Sendable {
  /// Where a policy comes from; later ones count for more.
  package enum Layer: String, Sendable, Hashable, CaseIterable, Comparable {
    case builtIn = "built in"
    case system
    case user

    package static func < (left: Layer, right: Layer) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  /// A file as it was read just now.
  package struct File: Sendable, Hashable {
    package var layer: Layer
    /// As messages show it; the name alone for what is built in.
    package var path: String
    package var text: [UInt8]

    package init(layer: Layer, path: String, text: [UInt8]) {
      self.layer = layer
      self.path = path
      self.text = text
    }
  }

  /// A file that should be in force but is not, because it does not check.
  package struct Refusal: Sendable, Hashable {
    package let file: File
    package let errors: PolicyErrors
  }

  package private(set) var policy: CompiledPolicy
  /// The file that ``policy`` was read from, as it was then.
  package private(set) var file: File
  /// Files of lower layers, which count only if ``file`` goes; the highest first.
  package private(set) var shadowed: [File] = []
  /// The highest first.
  package private(set) var refusals: [Refusal] = []

  private let catalog: FactCatalog

  /// Takes the file of the highest layer that checks.
  ///
  /// - Parameters:
  ///   - files: At most one a layer, in any order.
  ///   - catalog: The facts that policies may ask about.
  /// - Throws: ``PolicyErrors`` of the highest file if none checks.
  package init(_ files: [File], facts catalog: FactCatalog = .standard) throws(PolicyErrors) {
    var refusals: [Refusal] = []
    for file in files.sorted(by: { $0.layer > $1.layer }) {
      do throws(PolicyErrors) {
        policy = try Self.checked(file, catalog)
        self.file = file
        self.refusals = refusals
        self.catalog = catalog
        shadowed = Self.below(file, in: files)
        return
      } catch {
        refusals.append(Refusal(file: file, errors: error))
      }
    }
    throw refusals.first?.errors
      ?? PolicyErrors(errors: [PolicyError(file: "policies", "there is no policy of that name")])
  }

  /// Takes the files as they are now; one that does not check is refused, and the old policy stays.
  ///
  /// - Parameter files: All of them, read anew; at most one a layer, in any order.
  /// - Returns: Whether another policy is in force now.
  package mutating func reload(_ files: [File]) -> Bool {
    refusals = []
    for next in files.sorted(by: { $0.layer > $1.layer }) {
      if next == file {
        shadowed = Self.below(next, in: files)
        return false
      }
      do throws(PolicyErrors) {
        policy = try Self.checked(next, catalog)
        file = next
        shadowed = Self.below(next, in: files)
        return true
      } catch {
        refusals.append(Refusal(file: next, errors: error))
        if next.layer >= file.layer {
          shadowed = Self.below(next, in: files)
          return false
        }
      }
    }
    return false
  }

  private static func below(_ file: File, in files: [File]) -> [File] {
    files.filter { $0.layer < file.layer }.sorted { $0.layer > $1.layer }
  }

  private static func checked(_ file: File, _ catalog: FactCatalog) throws(PolicyErrors) -> CompiledPolicy {
    let table = try PolicyTable(fileName: file.path, text: file.text, facts: catalog)
    // What is built in was checked when it was built; its check would only cost start-up time.
    if file.layer != .builtIn {
      let errors = try PolicyReport(table).errors
      guard errors.isEmpty else { throw PolicyErrors(errors: errors.map(\.problem)) }
    }
    return try CompiledPolicy(table)
  }
}

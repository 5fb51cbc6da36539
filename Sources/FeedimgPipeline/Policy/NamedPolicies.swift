import Synchronization

/// The policies that callers name for single loads, each read once.
package final class NamedPolicies: Sendable {
  /// Guards the policies; files are read outside the lock.
  private let policies = Mutex<[String: PolicyInForce]>([:])

  /// The most policies kept; others are read each time.
  private static let maximumCount = 64

  init() {}

  /// Returns the policy with a name; refuses paths, so that no caller can read files.
  ///
  /// - Throws: ``ConfigurationError`` if the policy is missing or invalid.
  func policy(named name: String, on catalog: PolicyCatalog) throws(ConfigurationError) -> PolicyInForce {
    if let known = policies.withLock({ $0[name] }) { return known }
    try catalog.checkName(name)
    let policy = try PolicyInForce(.named(name), on: catalog)
    policies.withLock { policies in
      if policies.count < Self.maximumCount { policies[name] = policy }
    }
    return policy
  }
}

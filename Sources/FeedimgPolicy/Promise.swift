/// One row under `## Promises`: wherever its conditions hold, so do its expectations.
package struct Promise: Sendable, Hashable {
  /// Counted from one, over all promises of a policy.
  package let number: Int
  /// Where the row stands in its file; nil in JSON.
  package let line: Int?
  package let conditions: [Condition]
  package let expectations: [Expectation]
}

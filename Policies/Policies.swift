/// The policies that come with feedimg, as text.
package enum ShippedPolicies {
  /// `default.md`, the policy in force unless another is asked for.
  package static var defaultTable: [UInt8] { PackageResources.default_md }
}

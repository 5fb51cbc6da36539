/// The policies that come with feedimg, as text.
package enum ShippedPolicies {
  /// A policy's file.
  package struct File: Sendable {
    /// Such as `data-saver`.
    package let name: String
    /// Markdown.
    package let text: [UInt8]

    /// Such as `data-saver.md`.
    package var fileName: String { name + ".md" }
  }

  /// `default.md`, the policy in force unless another is asked for.
  package static var defaultTable: [UInt8] { PackageResources.default_md }

  /// All of them, the default first and the others by name.
  package static var all: [File] {
    [
      File(name: "default", text: PackageResources.default_md),
      File(name: "always-original", text: PackageResources.always_original_md),
      File(name: "budgeted", text: PackageResources.budgeted_md),
      File(name: "data-saver", text: PackageResources.data_saver_md),
      File(name: "metered", text: PackageResources.metered_md),
      File(name: "roaming-aware", text: PackageResources.roaming_aware_md),
      File(name: "wifi-only", text: PackageResources.wifi_only_md),
    ]
  }
}

extension ShippedPolicies.File {
  /// The policy's cases, `NAME.tests.md`; nil where it has none.
  package var cases: [UInt8]? {
    switch name {
    case "default": PackageResources.default_tests_md
    case "always-original": PackageResources.always_original_tests_md
    case "budgeted": PackageResources.budgeted_tests_md
    case "data-saver": PackageResources.data_saver_tests_md
    case "metered": PackageResources.metered_tests_md
    case "roaming-aware": PackageResources.roaming_aware_tests_md
    case "wifi-only": PackageResources.wifi_only_tests_md
    default: nil
    }
  }
}

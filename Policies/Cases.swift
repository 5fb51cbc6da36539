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

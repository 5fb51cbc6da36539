/// What the name of a driver tells of a device.
enum Driver {
  /// It drives mobile modems alone.
  case modem
  /// It drives phones that share their connection: Android's old way, and the iPhone's.
  case phone
  /// Phones, modems, docks and network adapters have it in common.
  case shared
  case other

  /// Judges a driver by its name, as ethtool gives it.
  init(_ name: String) {
    switch name {
    case "qmi_wwan", "qmi_wwan_q", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "lg-vl600", "kalmia",
      "cdc-phonet", "mtk_t7xx", "t7xx", "iosm", "mhi_wwan_mbim", "mhi_net", "rmnet", "ipa":
      self = .modem
    case "rndis_host", "ipheth": self = .phone
    case "cdc_ether", "cdc_ncm", "cdc_eem", "cdc_subset": self = .shared
    default: self = .other
    }
  }
}

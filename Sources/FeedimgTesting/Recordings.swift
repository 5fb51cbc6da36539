/// Messages about interfaces as kernels sent them, with one attribute per line.
///
/// Unread attributes, such as counters, are removed. The lengths are those of the rest.
package enum LinkRecordings {
  /// Wi-Fi connected to a network (mac80211_hwsim, Linux 6.1).
  package static let wifi = Recording(
    """
    500000001000020001000000b8000000 # 80 bytes, RTM_NEWLINK
    00000100050000004310010000000000 # type 1, index 5, flags 0x11043
    0a000300776c616e30000000 # IFLA_IFNAME wlan0
    0500100006000000 # IFLA_OPERSTATE 6
    0500210001000000 # IFLA_CARRIER 1
    08002f0001000000 # IFLA_CARRIER_UP_COUNT 1
    0b003800687773696d310000 # IFLA_PARENT_DEV_NAME hwsim1
    """
  )

  /// A USB modem with the driver qmi_wwan.
  package static let qmi = Recording(
    """
    58000000100002000100000071010000 # 88 bytes, RTM_NEWLINK
    00000100090000004310010000000000 # type 1, index 9, flags 0x11043
    0a0003007777616e30000000 # IFLA_IFNAME wwan0
    0500100000000000 # IFLA_OPERSTATE 0
    0500210001000000 # IFLA_CARRIER 1
    08002f0000000000 # IFLA_CARRIER_UP_COUNT 0
    0c003800312d313a312e3000 # IFLA_PARENT_DEV_NAME 1-1:1.0
    0800390075736200 # IFLA_PARENT_DEV_BUS_NAME usb
    """
  )

  /// A phone shared by USB (rndis_host).
  package static let rndis = Recording(
    """
    58000000100002000100000079020000 # 88 bytes, RTM_NEWLINK
    00000100120000004310010000000000 # type 1, index 18, flags 0x11043
    090003007573623000000000 # IFLA_IFNAME usb0
    0500100000000000 # IFLA_OPERSTATE 0
    0500210001000000 # IFLA_CARRIER 1
    08002f0000000000 # IFLA_CARRIER_UP_COUNT 0
    0c003800312d313a312e3000 # IFLA_PARENT_DEV_NAME 1-1:1.0
    0800390075736200 # IFLA_PARENT_DEV_BUS_NAME usb
    """
  )

  /// WireGuard.
  package static let wireguard = Recording(
    """
    540000001000020001000000c0010000 # 84 bytes, RTM_NEWLINK
    0000feff0a000000d100010000000000 # type 65534, index 10, flags 0x100d1
    0800030077673000 # IFLA_IFNAME wg0
    0500100000000000 # IFLA_OPERSTATE 0
    0500210001000000 # IFLA_CARRIER 1
    08002f0000000000 # IFLA_CARRIER_UP_COUNT 0
    14001200 # IFLA_LINKINFO
      0e000100776972656775617264000000 # IFLA_INFO_KIND wireguard
    """
  )
}

/// Replies to route and rule requests, as Linux 6.1 sent them.
package enum RouteRecordings {
  /// The entry of the default route over Wi-Fi.
  package static let wifi = Recording(
    """
    3c000000 1800 0000 01000000 b8000000 # 60 bytes, RTM_NEWROUTE
    02 00 00 00 fe 03 00 01 00000000 # AF_INET, to /0, table main, RTPROT_BOOT, universe, RTN_UNICAST
    0800 0f00 fe000000 # RTA_TABLE main
    0800 0600 58020000 # RTA_PRIORITY 600
    0800 0500 0a010001 # RTA_GATEWAY 10.1.0.1
    0800 0400 05000000 # RTA_OIF 5
    """
  )

  /// The entry of the default route over a phone on USB (Linux 6.18).
  package static let phone = Recording(
    """
    34000000 1800 0000 01000000 17660000 # 52 bytes, RTM_NEWROUTE
    02 00 00 00 fe 03 00 01 00000000 # AF_INET, to /0, table main, RTPROT_BOOT, universe, RTN_UNICAST
    0800 0f00 fe000000 # RTA_TABLE main
    0800 0500 c0a82a81 # RTA_GATEWAY 192.168.42.129
    0800 0400 12000000 # RTA_OIF 18
    """
  )

  /// The entry of the default route over a USB modem: no gateway (Linux 6.18).
  package static let modem = Recording(
    """
    2c000000 1800 0000 01000000 49660000 # 44 bytes, RTM_NEWROUTE
    02 00 00 00 fe 03 fd 01 00000000 # AF_INET, to /0, RTPROT_BOOT, scope link, RTN_UNICAST
    0800 0f00 fe000000 # RTA_TABLE main
    0800 0400 09000000 # RTA_OIF 9
    """
  )

  /// The default route of WireGuard, as wg-quick sets it: no gateway, and a table of its own.
  package static let wireguard = Recording(
    """
    2c000000 1800 0000 01000000 c0010000 # 44 bytes, RTM_NEWROUTE
    02 00 00 00 fe 03 fd 01 00000000 # AF_INET, to /0, RTPROT_BOOT, scope link, RTN_UNICAST
    0800 0f00 fe000000 # RTA_TABLE main
    0800 0400 0a000000 # RTA_OIF 10
    """
  )

  /// No route at all.
  package static let none = Recording(
    """
    38000000 0200 0000 01000000 e7020000 # 56 bytes, NLMSG_ERROR
    9bffffff # -101, ENETUNREACH
    24000000 1a00 0100 01000000 00000000 # the request
    02 20 00 00 00 00 00 00 00200000
    0800 0100 c1000e81
    """
  )

  /// The rule of wg-quick: all packets without the mark use the table of the tunnel.
  package static let ruleOfWireGuard = Recording(
    """
    4c000000 2000 0200 01000000 c0010000 # 76 bytes, RTM_NEWRULE
    02 00 00 00 fc 00 00 01 02000000 # AF_INET, FR_ACT_TO_TBL, FIB_RULE_INVERT
    0800 0f00 6cca0000 # FRA_TABLE 51820
    0800 0e00 ffffffff # FRA_SUPPRESS_PREFIXLEN none
    0500 1500 00000000 # FRA_PROTOCOL
    0800 0600 fd7f0000 # FRA_PRIORITY 32765
    0800 0a00 6cca0000 # FRA_FWMARK 51820
    0800 1000 ffffffff # FRA_FWMASK
    """
  )
}

/// Messages of nl80211 as Linux 6.1 sent them (mac80211_hwsim).
package enum WirelessRecordings {
  /// An interface that is connected to a network.
  package static let station = Recording(
    """
    90000000 2000 0000 01000000 b8000000 # 144 bytes, nl80211
    07 01 0000 # NL80211_CMD_NEW_INTERFACE
    0800 0300 05000000 # NL80211_ATTR_IFINDEX 5
    0a00 0400 776c616e30000000 # NL80211_ATTR_IFNAME wlan0
    0800 0100 01000000 # NL80211_ATTR_WIPHY 1
    0800 0500 02000000 # NL80211_ATTR_IFTYPE station
    0c00 9900 0100000001000000 # NL80211_ATTR_WDEV
    0a00 0600 0200000001000000 # NL80211_ATTR_MAC 02:00:00:00:01:00
    0800 2e00 0e000000 # NL80211_ATTR_GENERATION
    0500 5300 00000000 # NL80211_ATTR_4ADDR
    0800 2600 6c090000 # NL80211_ATTR_WIPHY_FREQ 2412
    0800 2201 00000000 # NL80211_ATTR_WIPHY_FREQ_OFFSET
    0800 2700 00000000 # NL80211_ATTR_WIPHY_CHANNEL_TYPE
    0800 9f00 00000000 # NL80211_ATTR_CHANNEL_WIDTH
    0800 a000 6c090000 # NL80211_ATTR_CENTER_FREQ1
    0800 6200 d0070000 # NL80211_ATTR_WIPHY_TX_POWER_LEVEL
    """
  )

  /// A network that reports limited data, in an element that is not the last one.
  package static let limited = Recording(
    """
    600100002000020001000000eb000000 # 352 bytes, nl80211, NLM_F_MULTI
    22010000 # NL80211_CMD_NEW_SCAN_RESULTS
    08002e000c000000 # NL80211_ATTR_GENERATION
    0800030005000000 # NL80211_ATTR_IFINDEX
    0c0099000100000001000000 # NL80211_ATTR_WDEV
    30012f00 # NL80211_ATTR_BSS
      0a0001000200000000000000 # NL80211_BSS_BSSID
      04000e00 # NL80211_BSS_PRESP_DATA
      0c000300b6df5f27ca600600 # NL80211_BSS_TSF
      57000600 # NL80211_BSS_INFORMATION_ELEMENTS
        00066e65746c6162 # SSID netlab
        010882848b960c121824 # supported rates
        030101 # DS parameters
        2a0104 # ERP
        32043048606c # extended rates
        30140100000fac040100000fac040100000fac020000 # RSN
        3b025100 # operating classes
        7f080400400200000040 # extended capabilities
        dd080050f21102000000 # vendor: network cost
        dd050010180200 # vendor: Broadcom
        00 # padding
      0c000d0089ab6127ca600600 # NL80211_BSS_BEACON_TSF
      5d000b00 # NL80211_BSS_BEACON_IES
        00066e65746c6162 # SSID netlab
        010882848b960c121824 # supported rates
        030101 # DS parameters
        050400020000 # TIM
        2a0104 # ERP
        32043048606c # extended rates
        30140100000fac040100000fac040100000fac020000 # RSN
        3b025100 # operating classes
        7f080400400200000040 # extended capabilities
        dd080050f21102000000 # vendor: network cost
        dd050010180200 # vendor: Broadcom
        000000 # padding
      0600040032000000 # NL80211_BSS_BEACON_INTERVAL
      0600050011040000 # NL80211_BSS_CAPABILITY
      080002006c090000 # NL80211_BSS_FREQUENCY
      0800140000000000 # NL80211_BSS_FREQUENCY_OFFSET
      08000c0000000000 # NL80211_BSS_CHAN_WIDTH
      08000a0090000000 # NL80211_BSS_SEEN_MS_AGO
      0c000f001136276702000000 # NL80211_BSS_LAST_SEEN_BOOTTIME
      0800070048f4ffff # NL80211_BSS_SIGNAL_MBM
      0800090001000000 # NL80211_BSS_STATUS
    """
  )

  /// An iPhone: Apple's element, and a random address.
  package static let phone = Recording(
    """
    480100002000020001000000b8000000 # 328 bytes, nl80211, NLM_F_MULTI
    22010000 # NL80211_CMD_NEW_SCAN_RESULTS
    08002e0003000000 # NL80211_ATTR_GENERATION
    0800030005000000 # NL80211_ATTR_IFINDEX
    0c0099000100000001000000 # NL80211_ATTR_WDEV
    18012f00 # NL80211_ATTR_BSS
      0a0001000200000000000000 # NL80211_BSS_BSSID
      04000e00 # NL80211_BSS_PRESP_DATA
      0c000300db2a4127ca600600 # NL80211_BSS_TSF
      4c000600 # NL80211_BSS_INFORMATION_ELEMENTS
        00066e65746c6162 # SSID netlab
        010882848b960c121824 # supported rates
        030101 # DS parameters
        2a0104 # ERP
        32043048606c # extended rates
        30140100000fac040100000fac040100000fac020000 # RSN
        3b025100 # operating classes
        7f080400400200000040 # extended capabilities
        dd040017f20a # vendor: Apple
      0c000d0079354327ca600600 # NL80211_BSS_BEACON_TSF
      52000b00 # NL80211_BSS_BEACON_IES
        00066e65746c6162 # SSID netlab
        010882848b960c121824 # supported rates
        030101 # DS parameters
        050401020000 # TIM
        2a0104 # ERP
        32043048606c # extended rates
        30140100000fac040100000fac040100000fac020000 # RSN
        3b025100 # operating classes
        7f080400400200000040 # extended capabilities
        dd040017f20a # vendor: Apple
        0000 # padding
      0600040032000000 # NL80211_BSS_BEACON_INTERVAL
      0600050011040000 # NL80211_BSS_CAPABILITY
      080002006c090000 # NL80211_BSS_FREQUENCY
      0800140000000000 # NL80211_BSS_FREQUENCY_OFFSET
      08000c0000000000 # NL80211_BSS_CHAN_WIDTH
      08000a00f8000000 # NL80211_BSS_SEEN_MS_AGO
      0c000f0075052af001000000 # NL80211_BSS_LAST_SEEN_BOOTTIME
      0800070048f4ffff # NL80211_BSS_SIGNAL_MBM
      0800090001000000 # NL80211_BSS_STATUS
    """
  )
}

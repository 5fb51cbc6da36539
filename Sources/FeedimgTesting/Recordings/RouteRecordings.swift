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

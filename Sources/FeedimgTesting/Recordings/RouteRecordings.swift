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

  /// The route of one packet on that route.
  package static let wifiPacket = Recording(
    """
    70000000 1800 0000 01000000 b8000000 # 112 bytes, RTM_NEWROUTE
    02 20 00 00 fe 00 00 01 00020000 # AF_INET, to /32, table main, RTN_UNICAST, RTM_F_CLONED
    0800 0f00 fe000000 # RTA_TABLE main
    0800 0100 c1000e81 # RTA_DST 193.0.14.129
    0800 0400 05000000 # RTA_OIF 5
    0800 0700 0a010002 # RTA_PREFSRC 10.1.0.2
    0800 0500 0a010001 # RTA_GATEWAY 10.1.0.1
    0800 1900 00000000 # RTA_UID 0
    2400 0c00 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 # RTA_CACHEINFO
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

  /// A blackhole.
  package static let blackhole = Recording(
    """
    38000000 0200 0000 01000000 a4020000 # 56 bytes, NLMSG_ERROR
    eaffffff # -22, EINVAL
    24000000 1a00 0100 01000000 00000000 # the request
    02 20 00 00 00 00 00 00 00200000
    0800 0100 c1000e81
    """
  )

  /// Two nextHops, the first without a carrier (Linux 6.18, veth).
  package static let nextHops = Recording(
    """
    48000000 1800 0000 01000000 00000000 # 72 bytes, RTM_NEWROUTE
    02 00 00 00 fe 03 00 01 00000000 # AF_INET, to /0, table main
    0800 0f00 fe000000 # RTA_TABLE main
    2400 0900 # RTA_MULTIPATH
      1000 11 00 05000000 # struct rtnexthop: 16 bytes, RTNH_F_DEAD | RTNH_F_LINKDOWN, index 5
        0800 0500 0a010001 # RTA_GATEWAY 10.1.0.1
      1000 00 00 07000000 # struct rtnexthop: 16 bytes, index 7
        0800 0500 0a020001 # RTA_GATEWAY 10.2.0.1
    """
  )

  /// An IPv4 route over an IPv6 gateway, as hosting providers use it.
  package static let gatewayOfOtherFamily = Recording(
    """
    3c000000 1800 0000 01000000 00000000 # 60 bytes, RTM_NEWROUTE
    02 00 00 00 fe 03 00 01 00000000 # AF_INET, to /0, table main
    0800 0400 05000000 # RTA_OIF 5
    1600 1200 0a00 fe800000 00000000 00000000 00000001 0000 # RTA_VIA, AF_INET6, fe80::1
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

  /// The rule for the main table.
  package static let ruleOfMain = Recording(
    """
    3c000000 2000 0200 01000000 05010000 # 60 bytes, RTM_NEWRULE
    02 00 00 00 fe 00 00 01 00000000 # AF_INET, table main, FR_ACT_TO_TBL
    0800 0f00 fe000000 # FRA_TABLE main
    0800 0e00 ffffffff # FRA_SUPPRESS_PREFIXLEN none
    0500 1500 02000000 # FRA_PROTOCOL kernel
    0800 0600 fe7f0000 # FRA_PRIORITY 32766
    """
  )
}

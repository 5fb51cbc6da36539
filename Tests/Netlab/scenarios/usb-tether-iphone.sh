# iPhone tethered by USB (driver ipheth)
apple=ff,fd,01  # the class of its network, which alt 1 of interface 2 carries
usb_device 0x05ac 0x12a8 "
    09 02 0000 03 01 00 c0 32
    09 04 00 00 00 06 01 01 00
    09 04 01 00 00 ff fe 02 00
    09 04 02 00 00 ${apple//,/ } 00
    09 04 02 01 02 ${apple//,/ } 00  07 05 81 02 0002 00  07 05 02 02 0002 00" \
    c000=02a1b2c3d4e5 c045=04 81:"$(printf '%0124d' 0)"
# Its hardware address, its carrier, and a frame, without which it does not count as paired.
[ "$(basename "$(readlink "/sys/class/net/$DEV/device/driver")")" = ipheth ]
usb_route
check "$TETHER"

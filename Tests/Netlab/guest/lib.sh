# Functions for scenarios. The VM's first network namespace is the computer on
# which the program under test runs. Everything outside of it (access point,
# gateways, "the internet") is in the namespace "world". Hardware that a scenario
# does not use is in the namespace "unused".

# Expectations that users may choose (Tests/Netlab/run --set NAME=VALUE).
: "${TETHER:={\"kind\":\"cellular\",\"metered\":\"yes\",\"tether\":true\}}"     # a phone tethered by USB
: "${UNKNOWN:={\"kind\":[\"unknown\",\"other\",\"ethernet\",\"offline\"]\}}"   # an unknown device

# --- talking to the host -----------------------------------------------------

emit() { local IFS=$'\t'; printf '@%s\n' "$*" >&3; }

# emit_log FILE: send its last lines; the host prints them if the scenario fails
emit_log() { local line; tail -n 15 "$1" 2>/dev/null | while IFS= read -r line; do emit log "$line"; done; }

# check EXPECTED [LABEL]: run the command under test. The host compares its
# output with the JSON object EXPECTED (a list as value: any of its elements).
check() {
    local out status=0 line begin=${EPOCHREALTIME/./}
    out=$(timeout "$CMD_TIMEOUT" bash -c "$CMD" 3>&- 2>/run/cmd.err) || status=$?
    local ms=$(( (${EPOCHREALTIME/./} - begin) / 1000 ))
    while IFS= read -r line; do emit out "$line"; done <<<"$out"
    emit_log /run/cmd.err
    emit check "$status" "$ms" "$1" "${2:-}"
    [ -z "$DUMPS" ] || dump "/run/dumps/$SCENARIO${2:+/${2//[!a-zA-Z0-9]/-}}"
}

# watch EXPECTED: start the streaming command under test. If it prints a line
# before the first change, that line must be EXPECTED.
watch() {
    [ -n "$WATCH_CMD" ] || return 0
    bash -c "$WATCH_CMD" 3>&- 2>/run/watch.err |
        while IFS= read -r line; do emit watch "${EPOCHREALTIME/./}" "$line"; done &
    emit trigger "${EPOCHREALTIME/./}" start "$1"
    emit triggered "${EPOCHREALTIME/./}"
    await_host
}

# step LABEL EXPECTED COMMAND...: run COMMAND. Then the stream must reach EXPECTED
# (the host measures the time), and a new run of the command must print it.
step() {
    local label=$1 expected=$2; shift 2
    if [ -n "$WATCH_CMD" ]; then emit trigger "${EPOCHREALTIME/./}" "$label" "$expected"; fi
    "$@"
    if [ -n "$WATCH_CMD" ]; then emit triggered "${EPOCHREALTIME/./}"; await_host; fi
    check "$expected" "$label"
}

await_host() { local reply; read -r -t 60 -u 3 reply; }

# --- helpers -----------------------------------------------------------------

world() { ip netns exec world "$@"; }
world_ip() { ip -n world "$@"; }

pause() { read -r -t "$1" -u 4 || true; }   # sleeps without another process
# wait_for SECONDS COMMAND...: until COMMAND succeeds.
wait_for() {
    local deadline=$(( ${EPOCHREALTIME/./} + $1 * 1000000 )); shift
    until "$@" >/dev/null 2>&1; do
        if (( ${EPOCHREALTIME/./} > deadline )); then echo "timed out waiting for: $*"; return 1; fi
        pause 0.02
    done
}
# The operational state (operstate) may follow the carrier after some time.
link_state() {  # sets CARRIER and OPERSTATE
    CARRIER='' OPERSTATE=''
    { read -r CARRIER < "/sys/class/net/$1/carrier"; read -r OPERSTATE < "/sys/class/net/$1/operstate"; } 2>/dev/null || true
}
carrier()    { link_state "$1"; case $CARRIER$OPERSTATE in 1up|1unknown) ;; *) return 1;; esac; }
no_carrier() { link_state "$1"; case $CARRIER$OPERSTATE in 1*|*up|*unknown) return 1;; esac; }
steady_carrier() { carrier "$1" && pause 0.2 && carrier "$1"; }
has_netdev() { [ -e "/sys/class/net/$1" ]; }

# The world replies to pings of these addresses.
INTERNET4=1.1.1.1 INTERNET6=2606:4700:4700::1111
reachable() { wait_for 5 ping -c 1 -W 1 "${1:-$INTERNET4}"; }

# --- Wi-Fi: two simulated radios (mac80211_hwsim) ----------------------------

# wifi_radio: plug in the Wi-Fi adapter: wlan0, down
wifi_radio() { ip netns exec unused iw phy "$(cat /run/station-phy)" set netns 1; wait_for 5 has_netdev wlan0; }

# wifi_associate: join the access point (WPA2), without an address
wifi_associate() {
    has_netdev wlan0 || wifi_radio
    wpa_supplicant -B -i wlan0 -D nl80211 -c /lab/wpa_supplicant.conf
    wait_for 20 carrier wlan0
}

# wifi_route [METRIC]: address and default route
wifi_route() {
    ip addr replace 10.1.0.2/24 dev wlan0
    ip route replace default via 10.1.0.1 dev wlan0 metric "${1:-600}"
}
wifi_up() { wifi_associate; wifi_route "${1:-600}"; reachable 10.1.0.1; }

# wifi_rejoin [METRIC]: leave the network and join it again
wifi_rejoin() {
    wpa_cli -p /run/wpa_supplicant -i wlan0 disconnect
    wait_for 5 no_carrier wlan0
    wpa_cli -p /run/wpa_supplicant -i wlan0 bss_flush 0
    wpa_cli -p /run/wpa_supplicant -i wlan0 reconnect
    wait_for 15 carrier wlan0
    wifi_route "${1:-600}"
}

# ap_elements HEX: add elements (IEEE 802.11) to the beacons of the access point
ap_elements() { ap_control set vendor_elements "$1"; ap_control update_beacon; }
ap_control() { world hostapd_cli -p /run/hostapd -i ap0 "$@"; }

# --- Ethernet ----------------------------------------------------------------

# eth_link [NAME [N]]: a cable to the world: veth NAME, whose other end is peerN
eth_link() {
    local dev=${1:-eth0} n=${2:-0}
    ip link add "$dev" type veth peer name "peer$n" netns world
    world_ip addr add "10.2.$n.1/24" dev "peer$n"
    world_ip link set "peer$n" up
    ip link set "$dev" up
    wait_for 5 carrier "$dev"
}
# eth_route [DEV [N [METRIC]]]: address and default route
eth_route() {
    ip addr replace "10.2.${2:-0}.2/24" dev "${1:-eth0}"
    ip route replace default via "10.2.${2:-0}.1" dev "${1:-eth0}" metric "${3:-100}"
}
eth_up() { eth_link "${1:-eth0}" "${2:-0}"; eth_route "${1:-eth0}" "${2:-0}" "${3:-100}"; }

# pci_nic: plug in the PCI network card (e1000e); its cable ends in the world
pci_nic() { ip -n unused link set enp0s5 netns 1; ip link set enp0s5 up; wait_for 5 carrier enp0s5; }

# --- cellular ----------------------------------------------------------------

# wwan_up [METRIC]: modem of the WWAN subsystem (wwan_hwsim; drops all packets)
wwan_up() {
    modprobe wwan_hwsim devices=1
    wait_for 5 has_netdev wwan0
    ip link set wwan0 up
    ip addr add 10.64.0.2/30 dev wwan0
    ip route add default dev wwan0 metric "${1:-700}"
}

# dial DEVICE-OPTIONS...: start pppd as a dialler of mobile phones does
dial() {
    pppd "$@" noauth local nodefaultroute novj noccp ipcp-accept-local ipcp-accept-remote \
        lcp-echo-interval 0 connect-delay 100 connect "chat -t 5 '' AT OK 'ATD*99#' CONNECT" 3>&-
    wait_for 15 ppp_ready
}
ppp_ready() { ip -4 addr show dev ppp0 | grep -q inet; }

# --- USB: a device emulated with dummy_hcd -----------------------------------

USB_HUB=/sys/devices/platform/dummy_hcd.0/usb1
GADGET=/sys/kernel/config/usb_gadget/lab

# usb_plug FUNCTION VENDOR PRODUCT NAME [ATTRIBUTE=VALUE...]: plug in a device
# with one gadget function (rndis, ecm, ncm, acm); attributes as in configfs.
# USB_ALSO is a second function, if any.
# The computer uses the device after usb_accept.
usb_plug() {
    local function=$1 vendor=$2 product=$3 name=$4 setting; shift 4
    # Without udev, the drivers of the computer must be loaded too.
    [ -d /sys/module/qmi_wwan ] ||
        modprobe -a dummy_hcd libcomposite rndis_host cdc_ether cdc_ncm cdc_mbim cdc_acm qmi_wwan
    modprobe "usb_f_$function"
    [ -d /sys/kernel/config/usb_gadget ] || mount -t configfs configfs /sys/kernel/config
    mkdir "$GADGET" "$GADGET/strings/0x409" "$GADGET/configs/c.1" "$GADGET/functions/$function.0"
    echo "$vendor" > "$GADGET/idVendor"; echo "$product" > "$GADGET/idProduct"
    echo "${name%% *}" > "$GADGET/strings/0x409/manufacturer"
    echo "${name#* }" > "$GADGET/strings/0x409/product"
    for setting; do echo "${setting#*=}" > "$GADGET/functions/$function.0/${setting%%=*}"; done
    ln -s "$GADGET/functions/$function.0" "$GADGET/configs/c.1/"
    if [ -n "${USB_ALSO:-}" ]; then
        modprobe "usb_f_$USB_ALSO"
        mkdir "$GADGET/functions/$USB_ALSO.0"
        ln -s "$GADGET/functions/$USB_ALSO.0" "$GADGET/configs/c.1/"
    fi
    echo 0 > "$USB_HUB/authorized_default"
    echo dummy_udc.0 > "$GADGET/UDC"
}
usb_accept() { wait_for 5 [ -e "$USB_HUB/1-1/authorized" ]; echo 1 > "$USB_HUB/1-1/authorized"; }

# usb_net FUNCTION VENDOR PRODUCT NAME [ATTRIBUTE=VALUE...]: the same for a network
# function. Moves its inner end to the world, and sets up the computer's end.
# Sets DEV.
usb_net() {
    usb_plug "$@"
    ip link set "$(cat "$GADGET/functions/$1.0/ifname")" netns world name phone0
    world_ip addr add 10.3.0.1/24 dev phone0
    world_ip link set phone0 up     # before usb_accept, or the last report may be "no carrier"
    usb_accept
    wait_for 10 usb_netdev
    DEV=$(usb_netdev)
    ip link set "$DEV" up
    # usbnet may miss "carrier" while it opens the device. Then report it again.
    wait_for 1 carrier "$DEV" || { world_ip link set phone0 down; world_ip link set phone0 up; }
    wait_for 5 steady_carrier "$DEV"
}
# usb_device VENDOR PRODUCT CONFIGURATION REQUEST=RESPONSE...: plug in a device
# that usb-device.c simulates. It carries no packets. Sets DEV.
usb_device() {
    local vendor=${1#0x} product=${2#0x} configuration=$3; shift 3
    modprobe -a dummy_hcd gadgetfs ipheth cdc_mbim
    mkdir -p /dev/gadget
    grep -q ^gadgetfs /proc/mounts || mount -t gadgetfs gadgetfs /dev/gadget
    echo 1 > "$USB_HUB/authorized_default"
    usb-device "12 01 0002 00 00 00 40 ${vendor:2}${vendor:0:2} ${product:2}${product:0:2} 0001 00 00 00 01" \
        "$configuration" "$@" 3>&- &
    wait_for 10 usb_netdev
    DEV=$(usb_netdev)
    ip link set "$DEV" up
    wait_for 5 carrier "$DEV"
}
# the network device on the emulated USB bus
usb_netdev() {
    local dev
    for dev in /sys/class/net/*; do
        [ -L "$dev" ] || continue
        case $(readlink "$dev") in */dummy_hcd.0/usb*) echo "${dev##*/}"; return;; esac
    done
    return 1
}
usb_route() { ip addr add 10.3.0.2/24 dev "$DEV"; ip route add default via 10.3.0.1 dev "$DEV" metric "${1:-100}"; }
usb_unplug() {
    [ -d "$GADGET" ] || return 0
    echo > "$GADGET/UDC"
    wait_for 5 no_usb_netdev
    rm "$GADGET"/configs/c.1/*.0
    rmdir "$GADGET/configs/c.1" "$GADGET"/functions/* "$GADGET/strings/0x409" "$GADGET"
}
no_usb_netdev() { ! usb_netdev; }

# --- Bluetooth: controllers that btvirt simulates --------------------------------

# bluetooth_phone: join a phone that shares its network: bnep0, its other end is bnep1 in the world.
# Sets RADIO, the process that provides Bluetooth.
bluetooth_phone() {
    modprobe -a hci_vhci bnep algif_skcipher algif_hash ecb     # btvirt uses the kernel's ciphers
    [ -e /dev/vhci ] || mknod /dev/vhci c 10 137
    btvirt -l2 3>&- &
    RADIO=$!
    wait_for 10 [ -e /sys/class/bluetooth/hci1 ]
    bluetooth-phone 3>&- &
    wait_for 15 has_netdev bnep1
    ip link set bnep1 netns world
    world_ip addr add 10.4.0.1/24 dev bnep1
    world_ip link set bnep1 up
    ip link set bnep0 up
    wait_for 5 carrier bnep0
    ip addr add 10.4.0.2/24 dev bnep0
    ip route add default via 10.4.0.1 dev bnep0 metric 750
    reachable 10.4.0.1
}
no_bluetooth() { ! has_netdev bnep0 && ! world_ip link show dev bnep1; }

# --- VPN ---------------------------------------------------------------------

# wg_up ENDPOINT: WireGuard tunnel wg0 to a peer in the world, no routes yet
wg_up() {
    local key peer
    key=$(wg genkey); peer=$(wg genkey)
    world_ip link add wgpeer type wireguard
    world wg set wgpeer listen-port 51820 private-key <(echo "$peer") \
        peer "$(wg pubkey <<<"$key")" allowed-ips 10.9.0.2/32
    world_ip addr add 10.9.0.1/24 dev wgpeer
    world_ip link set wgpeer up
    ip link add wg0 type wireguard
    wg set wg0 private-key <(echo "$key") \
        peer "$(wg pubkey <<<"$peer")" allowed-ips 0.0.0.0/0 endpoint "$1:51820"
    ip addr add 10.9.0.2/32 dev wg0
    ip link set wg0 up mtu 1380
}
# wg_quick_rules: the rules wg-quick makes for AllowedIPs = 0.0.0.0/0
wg_quick_rules() {
    wg set wg0 fwmark 51820
    ip route add default dev wg0 table 51820
    ip rule add not fwmark 51820 table 51820
    ip rule add table main suppress_prefixlength 0
    sysctl -qw net.ipv4.conf.all.src_valid_mark=1
}

# --- memory, and the service with images in memory --------------------------

SHORT=/sys/fs/cgroup/short
# memory_group: add a control group, beside that of the scenario, to limit its memory
memory_group() { echo +memory > /sys/fs/cgroup/cgroup.subtree_control; mkdir $SHORT; }
no_memory_group() {
    [ -d $SHORT ] || return 0
    echo 1 > $SHORT/cgroup.kill
    rmdir $SHORT && echo -memory > /sys/fs/cgroup/cgroup.subtree_control
}

# serve GROUP: start the service in a control group, with enough images in memory that it watches for pressure.
# Afterwards check compares the source of the small image.
serve() {
    mkdir -p /run/www /run/home
    { printf '\xff\xd8\xff'; head -c 5000000 /dev/zero; } > /run/www/large
    head -c 50000 /run/www/large > /run/www/small
    busybox httpd -p 127.0.0.1:80 -h /run/www
    (echo "$BASHPID" > "/sys/fs/cgroup/$1/cgroup.procs"
     export HOME=/run/home
     exec feedimg serve --allow-private --network ethernet --socket /run/service 3>&-) &
    wait_for 10 test -S /run/service
    request large > /dev/null; request small > /dev/null
    export -f request image_source
    CMD="printf '{\"source\":\"%s\"}' \"\$(image_source)\""
}
request() {     # request IMAGE: the service's response
    local item="{'originalImage':'http://127.0.0.1/$1','thumbnailImage':'http://127.0.0.1/none'}"
    printf 'GET /v1/image?item=%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "${item//\'/%22}" |
        socat -b 65536 -t 30 STDIO,ignoreeof UNIX-CONNECT:/run/service
}
# image_source: the source of the small image by Cache-Status; nothing if the image is incomplete
image_source() {
    request small > /run/response
    tail -c 50000 /run/response | cmp - /run/www/small &&
        head -c 2000 /run/response | sed -n 's/^Cache-Status:.*detail=\([a-z]*\).*/\1/p'
}
is_from() { [ "$(image_source)" = "$1" ]; }

# --- the world, and cleaning up -----------------------------------------------

world_up() {
    # Loading a tunnel module creates no gre0, sit0, ... in other namespaces.
    sysctl -qw net.core.fb_tunnels_only_for_init_net=2
    ip netns add world; ip netns add unused
    ip link set lo up; world_ip link set lo up
    world_ip addr add $INTERNET4/32 dev lo
    world_ip addr add 9.9.9.10/32 dev lo       # VPN server
    world_ip -6 addr add $INTERNET6/128 dev lo nodad
    world sysctl -qw net.ipv4.ip_forward=1
    # two network cards on one cable: one for the computer, one for the world
    modprobe -a e1000e virtio_net
    local dev
    for dev in /sys/class/net/*/address; do
        case $(cat "$dev") in
            52:54:00:00:00:01) ip link set "$(basename "${dev%/address}")" netns unused name enp0s5;;
            52:54:00:00:00:02) ip link set "$(basename "${dev%/address}")" netns world name cable
                               world_ip addr add 10.5.0.1/24 dev cable; world_ip link set cable up;;
        esac
    done
    # Wi-Fi: the first radio is the access point, the second the computer's
    modprobe mac80211_hwsim radios=2
    wait_for 5 has_netdev wlan1
    iw phy "$(cat /sys/class/net/wlan0/phy80211/name)" set netns name world
    cat /sys/class/net/wlan1/phy80211/name > /run/station-phy
    ip link set wlan1 name wlan0
    iw phy "$(cat /run/station-phy)" set netns name unused
    has_netdev hwsim0 && ip link set hwsim0 netns unused
    world_ip link set wlan0 name ap0
    world_ip link add lan type bridge
    world_ip link set lan up
    world hostapd -B /lab/hostapd.conf
    world_ip addr add 10.1.0.1/24 dev lan
    world_ip -6 addr add fe80::1/64 dev lan nodad
    world_ip -6 addr add 2001:db8:1::1/64 dev lan nodad
    wait_for 10 world test -e /run/hostapd/ap0
}

# print the state that a scenario must restore
network_state() {
    printf 'rule show\nroute show table all\nlink show\n' | ip -4 -oneline -batch - | sed 's/ qlen.*//; s/ state.*//'
    printf 'rule show\nroute show table all\n' | ip -6 -batch -
    world_ip -brief link | cut -d' ' -f1; echo /run/netns/*
}

# end the programs of a scenario, and remove its devices
reset() {
    local dev path
    ! has_netdev wlan0 || iw dev wlan0 disconnect 2>/dev/null   # so that the access point notices
    echo 1 > /sys/fs/cgroup/scenario/cgroup.kill
    wait_for 5 grep -q 'populated 0' /sys/fs/cgroup/scenario/cgroup.events
    wait_for 5 no_memory_group
    usb_unplug
    for path in /run/*; do
        [[ " ${FILES[*]} " == *" $path "* ]] || rm -rf "$path"
    done
    # Suspending also stops the access point, and hostapd does not notice.
    world iw dev ap0 info | grep -q channel || { ap_control disable; ap_control enable; }
    ap_elements '' >/dev/null
    wait_for 10 no_bluetooth
    [ ! -d /sys/module/wwan_hwsim ] || modprobe -r wwan_hwsim
    if has_netdev wlan0; then
        for path in /sys/class/net/wlan0/phy80211/rfkill*; do echo 0 > "$path/soft"; done
        ip link set wlan0 nomaster down
        iw dev wlan0 set type managed; iw dev wlan0 set 4addr off 2>/dev/null
        iw phy "$(cat /run/station-phy)" set netns name unused
    fi
    if has_netdev enp0s5; then ip link set enp0s5 nomaster down; ip link set enp0s5 netns unused; fi
    # Deleting a device may delete others, so check with has_netdev.
    for path in /sys/class/net/*; do
        dev=${path##*/}
        case $dev in lo|bonding_masters) ;; *) ! has_netdev "$dev" || ip link del "$dev";; esac
    done
    for path in /run/netns/*; do
        case ${path##*/} in world|unused) ;; *) ip netns del "${path##*/}";; esac
    done
    echo 0 > /proc/sys/net/ipv4/conf/all/src_valid_mark
    echo 0 > /proc/sys/net/ipv4/conf/all/ignore_routes_with_linkdown
    [ "$(network_state)" != "$BASELINE" ] || return 0
    # remaining peers in the world, rules and routes
    for dev in $(world_ip -brief link | sed 's/[@ ].*//'); do
        case $dev in lo|ap0|lan|cable) ;; *) world_ip link del "$dev" 2>/dev/null;; esac
    done
    ip -4 rule flush; ip -4 rule add pref 32766 table main; ip -4 rule add pref 32767 table default
    ip -6 rule flush; ip -6 rule add pref 32766 table main
    for path in unreachable blackhole; do
        ip -4 route flush type $path; ip -6 route flush type $path
    done
    path=$(diff -U0 <(echo "$BASELINE") <(network_state) | grep '^[+-][^+-]') &&
        emit unclean "${path//$'\n'/; }"
    return 0
}

# WireGuard with its routes, after the Wi-Fi that carries it went down
wifi_up
wg_up 9.9.9.10
wg_quick_rules
check '{"kind":"wifi","vpn":true}' 'with Wi-Fi'
ip link set wlan0 down
check '{"kind":"offline"}' 'without Wi-Fi'

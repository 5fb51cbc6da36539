# WireGuard with its routes in place, but the Wi-Fi below is gone
wifi_up
wg_up 198.51.100.10
wg_quick_rules
check '{"kind":"wifi","vpn":true}' 'with Wi-Fi'
ip link set wlan0 down
check '{"kind":"offline"}' 'without'

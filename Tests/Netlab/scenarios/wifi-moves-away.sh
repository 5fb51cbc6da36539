# The Wi-Fi radio moves to another namespace and back during the run
wifi_up
move_out() { ip netns add elsewhere 2>/dev/null || true; iw phy "$(cat /run/station-phy)" set netns name elsewhere; }
supplicant_gone() { ! pidof wpa_supplicant; }
move_back() {
    ip netns exec elsewhere iw phy "$(cat /run/station-phy)" set netns 1
    wait_for 5 has_netdev wlan0
    # A supplicant that still ends would take the link of the next one down.
    killall wpa_supplicant || true
    wait_for 5 supplicant_gone
    wifi_up
}
watch '{"kind":"wifi"}'
step 'moved out' '{"kind":"offline"}' move_out
step 'moved back' '{"kind":"wifi","metered":"no"}' move_back

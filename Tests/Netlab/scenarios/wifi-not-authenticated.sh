# Wi-Fi with the wrong password: it associates again and again, and the route stays
wifi_radio
sed 's/psk=05/psk=ff/' /lab/wpa_supplicant.conf > /run/wrong.conf
wpa_supplicant -B -i wlan0 -D nl80211 -c /run/wrong.conf
ip link set wlan0 up
associated() { iw dev wlan0 link | grep -q Connected; }
wait_for 15 associated
wifi_route
check '{"kind":"offline"}'

# VPN of a program that has pppd make the interface (as SSTP does), over Wi-Fi
wifi_up
ln -s /lab/modem /run/sstpc
dial pty /run/sstpc
ip route add default dev ppp0 metric 50
check '{"kind":"wifi","metered":"no","vpn":true,"via":[["ppp0","wlan0"]]}'

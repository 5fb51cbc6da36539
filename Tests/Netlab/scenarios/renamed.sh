# A virtual Ethernet cable that is renamed to wlan9 during the run
eth_up
rename() { ip link set eth0 down; ip link set eth0 name wlan9; ip link set wlan9 up; eth_route wlan9; }
watch '{"kind":"ethernet"}'
step 'renamed' '{"kind":"ethernet","virtual":true,"via":[["wlan9"]]}' rename

# Phone tethered by Bluetooth (personal area network); then Bluetooth is switched off
bluetooth_phone
watch "$TETHER"
check "$TETHER"
step 'switched off' '{"kind":"offline"}' kill "$RADIO"

# Wi-Fi whose access point reports its metering (Microsoft's element, not the last one)
rejoin_with() { ap_elements "$1"; wifi_rejoin; }
rejoin_without() { rejoin_with ''; }
rejoin_limited() { rejoin_with "$COST_LIMITED$OTHER_ELEMENT"; }
rejoin_used_up() { rejoin_with "$COST_USED_UP"; }
rejoin_unlimited() { rejoin_with "$COST_UNLIMITED"; }
COST_UNLIMITED=dd080050f21101000000
COST_LIMITED=dd080050f21102000000
COST_USED_UP=dd080050f21100000100
OTHER_ELEMENT=dd050010180200
wifi_up
watch '{"kind":"wifi","metered":"no"}'
step 'limited' '{"kind":"wifi","metered":"yes"}' rejoin_limited
step 'no element' '{"kind":"wifi","metered":"no"}' rejoin_without
step 'limit used up' '{"kind":"wifi","metered":"yes"}' rejoin_used_up
step 'unlimited' '{"kind":"wifi","metered":"no"}' rejoin_unlimited

# Wi-Fi whose access point reports its metering (Microsoft's element, not the last one)
says() { ap_says "$1"; wifi_rejoin; }
rejoin_free() { says ''; }
rejoin_limited() { says "$COST_LIMITED$OTHER_ELEMENT"; }
rejoin_used_up() { says "$COST_USED_UP"; }
rejoin_unlimited() { says "$COST_UNLIMITED"; }
COST_UNLIMITED=dd080050f21101000000
COST_LIMITED=dd080050f21102000000
COST_USED_UP=dd080050f21100000100
OTHER_ELEMENT=dd050010180200
wifi_up
watch '{"kind":"wifi","metered":"no"}'
step 'limited' '{"kind":"wifi","metered":"yes"}' rejoin_limited
step 'nothing said' '{"kind":"wifi","metered":"no"}' rejoin_free
step 'limit used up' '{"kind":"wifi","metered":"yes"}' rejoin_used_up
step 'unlimited' '{"kind":"wifi","metered":"no"}' rejoin_unlimited

#!/usr/bin/env python3
"""Saves the image of an item: image.py ITEM.json FILE. Needs `feedimg serve`, and nothing else besides Python."""
import http.client, json, os, socket, sys


class Service(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ["XDG_RUNTIME_DIR"] + "/feedimg.sock")

    def post(self, target, body):
        self.request("POST", target, body, {"Content-Type": "application/json"})
        response = self.getresponse()
        content = response.read()
        if response.status != 200:
            sys.exit(json.loads(content)["detail"])
        return content, response.headers


service, item = Service("localhost"), open(sys.argv[1], "rb").read()
decision = json.loads(service.post("/v1/resolve", item)[0])
print(f"{decision['image']}, because {decision['why']}")
image, fields = service.post("/v1/image?width=800", item)
open(sys.argv[2], "wb").write(image)
print(f"{fields['Feedimg-Image']}, {fields['Content-Type']}, {len(image)} bytes, {fields['Cache-Status']}")

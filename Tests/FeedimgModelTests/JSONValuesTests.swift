import FeedimgJSON
import FeedimgModel
import Testing

struct JSONValuesTests {
  private let item: FeedItem
  private let resolution: Resolution

  init() throws {
    item = FeedItem(
      id: "7",
      original: ImageVariant(role: .original, url: try ImageURL("http://x.example/a")),
      thumbnail: nil,
      placeholder: Placeholder(color: "#336699")
    )
    resolution = Self.resolution(of: item, on: .wifi)
  }

  private static func resolution(of item: FeedItem, on network: NetworkKind) -> Resolution {
    let situation = Situation(network: network, original: .remote, thumbnail: .none)
    return Resolution(
      item: item,
      situation: situation,
      decision: Decision(ceiling: .original, in: situation, rule: 2),
      policy: "default",
      place: "default.md:8",
      why: "network is \(network.rawValue)",
      facts: [FactReading(name: "network", value: network.rawValue, source: "--network")]
    )
  }

  /// The members of columns that come after `upgrade` and `priority`, which a new column adds.
  private static var laterColumns: String {
    let decision = resolution(of: FeedItem(original: nil, thumbnail: nil), on: .wifi).decision
    return DecisionPart.columns.dropFirst(2)
      .map { #","\#($0.rawValue)":"\#($0.value(in: decision))""# }.joined()
  }

  @Test func `the JSON of a resolution has the decision and its reason`() {
    #expect(
      resolution.json
        == #"{"id":"7","image":"original","source":"network","show":"placeholder","load":"original","#
        + #""url":"http://x.example/a","upgrade":"never"\#(Self.laterColumns),"policy":"default","rule":2,"#
        + #""place":"default.md:8","#
        + #""why":"network is wifi","facts":{"network":{"value":"wifi","source":"--network"}}}"#
    )
  }

  @Test func `the JSON of a placeholder has its members`() {
    #expect(
      Self.resolution(of: item, on: .offline).json
        == #"{"id":"7","image":"placeholder","source":"none","show":"placeholder","load":"nothing","url":null,"#
        + #""upgrade":"never"\#(Self.laterColumns),"policy":"default","rule":2,"place":"default.md:8","#
        + #""why":"network is offline","#
        + ##""placeholder":{"color":"#336699"},"facts":{"network":{"value":"offline","source":"--network"}}}"##
    )
  }

  @Test func `the JSON of a loaded image has its variant, source and path`() throws {
    let image = LoadedImage(
      variant: try #require(item.original),
      source: .disk,
      resolution: resolution,
      bytes: [1, 2, 3],
      mediaType: "image/png",
      path: "/c/1.png"
    )
    guard case .object(let object) = try JSONReader.value(in: image.json.utf8) else {
      return #expect(Bool(false), "no object")
    }
    let expected: [(String, JSONValue)] = [
      ("image", "original"), ("source", "cache"), ("variant", "original"), ("tier", "disk"),
      ("path", "/c/1.png"),
      ("bytes", 3), ("mediaType", "image/png"), ("notes", []), ("why", "network is wifi"),
    ]
    for (name, value) in expected { #expect(object[name] == value, "\(name)") }
  }

  @Test func `the JSON of a network has its state and reasons`() {
    let network = NetworkState(
      kind: .wifi,
      metered: .unknown,
      device: "wg0",
      via: ["wg0", "wlan0"],
      route: nil,
      isTunnelled: true,
      reason: "r",
      meteredReason: "m"
    )
    #expect(
      network.json
        == #"{"kind":"wifi","metered":"unknown","device":"wg0","via":["wg0","wlan0"],"route":null,"#
        + #""reason":"r","meteredReason":"m","reachable":true,"vpn":true}"#
    )
  }
}

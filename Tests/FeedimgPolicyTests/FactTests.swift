import FeedimgModel
import FeedimgPolicy
import Testing

/// Facts by name and value, as policies write them and as users type them.
struct FactTests {
  @Test func `facts have a fixed order and names`() {
    #expect(
      Fact.standard.map(\.name) == [
        "network", "metered", "roaming", "data saver", "always original", "original", "thumbnail", "size",
        "budget left", "bandwidth", "battery", "fits",
      ]
    )
    #expect(Fact.standard.sorted() == Fact.standard)
  }

  @Test(arguments: [
    ("network", "cellular", "cellular"),
    ("always-original", "yes", "yes"),
    ("Always_Original", "YES", "yes"),
    ("always original", "no", "no"),
    ("data-saver", "on", "on"),
    ("roaming", "yes", "yes"),
    ("metered", "Unknown", "unknown"),
    ("original", "none", "none"),
    ("thumbnail", "remote", "remote"),
    ("size", "300kB", "300 kB"),
    ("size", "412345", "412345 B"),
    ("size", "0", "0 B"),
    ("size", "unknown", "unknown"),
    ("budget-left", "1.2 GB", "1.2 GB"),
    ("budget-left", "512 MiB", "512 MiB"),
    ("budget-left", "0.5 GB", "500 MB"),
    ("bandwidth", "5 Mbit/s", "5 Mbit/s"),
    ("bandwidth", "2500kbit/s", "2.5 Mbit/s"),
    ("bandwidth", "1001", "1001 bit/s"),
    ("battery", "80", "80 %"),
    ("battery", "80%", "80 %"),
  ])
  func `an override is read and shown`(name: String, typed: String, told: String) throws {
    var situation = Situation(network: .offline, original: .cached, thumbnail: .cached)
    try situation.set(fact: name, to: typed)
    #expect(try Fact(typed: name).value(in: situation) == told)
  }

  @Test(arguments: [
    ("netwrok", "wifi", "unknown fact `netwrok`; did you mean `network`?"),
    ("always-orignal", "yes", "unknown fact `always-orignal`; did you mean `always original`?"),
    ("", "yes", "unknown fact ``"),
    ("network", "celular", "network has no value `celular`; did you mean `cellular`?"),
    ("roaming", "true", "roaming has no value `true`, expected no, yes"),
    ("battery", "120", "battery has no value `120`, expected a quantity such as `20 %`, or `unknown`"),
    ("size", "big", "size has no value `big`, expected a quantity such as `20 MB`, or `unknown`"),
    ("size", "", "size has no value ``, expected a quantity such as `20 MB`, or `unknown`"),
    ("fits", "yes", "`fits` follows from `size` and `budget left`, set them instead"),
  ])
  func `a typing mistake gets a suggestion`(name: String, value: String, message: String) {
    var situation = Situation(network: .offline, original: .cached, thumbnail: .cached)
    let before = situation
    let error = #expect(throws: FactError.self) { try situation.set(fact: name, to: value) }
    #expect(error?.description == message)
    #expect(situation == before)
  }

  private static let costs: [(size: Int?, left: Int?, fits: String)] = [
    (100, 10_000, "yes"), (101, 10_000, "no"), (0, 0, "yes"), (1, 99, "no"), (Int.max, Int.max, "no"),
    (nil, 10_000, "unknown"), (100, nil, "unknown"),
  ]

  @Test(arguments: costs)
  func `an original fits if it is at most one percent of the budget left`(
    size: Int?,
    left: Int?,
    fits: String
  ) {
    let situation = Situation(
      network: .wifi,
      original: .remote,
      thumbnail: .none,
      size: size.map { ByteCount($0) },
      budgetLeft: left.map { ByteCount($0) }
    )
    #expect(Fact.fits.value(in: situation) == fits)
  }

  @Test(arguments: Fact.standard)
  func `a fact's new value is read back, and no other fact changes`(fact: Fact) {
    guard fact.inputs.isEmpty else { return }
    var situation = Situation(network: .wifi, original: .cached, thumbnail: .cached)
    let others = Fact.standard.filter { $0 != fact && !$0.inputs.contains(fact.name) }
    let before = others.map { $0.value(in: situation) }
    for (ordinal, word) in (fact.words ?? []).enumerated() {
      fact.set(ordinal: ordinal, in: &situation)
      #expect(fact.ordinal(in: situation) == ordinal)
      #expect(fact.value(in: situation) == word)
    }
    if case .quantity(let unit) = fact.domain {
      for quantity in [0, 7, unit.maximum ?? .max - 1, nil] {
        fact.set(quantity: quantity, in: &situation)
        #expect(fact.quantity(in: situation) == quantity)
      }
    }
    #expect(others.map { $0.value(in: situation) } == before)
  }

  @Test func `a fact's word is the raw value of its property`() {
    var situation = Situation(network: .wifi, original: .cached, thumbnail: .cached)
    for kind in NetworkKind.allCases {
      situation.network = kind
      #expect(Fact.network.value(in: situation) == kind.rawValue)
    }
    for metered in Metered.allCases {
      situation.metered = metered
      #expect(Fact.metered.value(in: situation) == metered.rawValue)
    }
    for presence in Presence.allCases {
      (situation.original, situation.thumbnail) = (presence, .none)
      #expect(Fact.original.value(in: situation) == presence.rawValue)
      #expect(Fact.thumbnail.value(in: situation) == "none")
    }
    for isOn in [false, true] {
      situation.isRoaming = isOn
      situation.savesData = !isOn
      #expect(Fact.roaming.value(in: situation) == (isOn ? "yes" : "no"))
      #expect(Fact.dataSaver.value(in: situation) == (isOn ? "off" : "on"))
    }
  }
}

extension Situation {
  /// Sets a fact to a value, both as a user typed them, such as `always-original` and `yes`.
  ///
  /// - Throws: ``FactError``. The situation then stays unchanged.
  mutating func set(
    fact name: String,
    to value: String,
    among catalog: FactCatalog = .standard
  ) throws(FactError) {
    try Fact(typed: name, among: catalog).set(typed: value, in: &self)
  }
}

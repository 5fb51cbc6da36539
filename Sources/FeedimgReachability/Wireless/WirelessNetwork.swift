/// The Wi-Fi network that this host is joined to.
struct WirelessNetwork: Hashable, Sendable {
  /// Its name, where it is text.
  var name: String?
  /// The address of the access point's radio.
  var accessPoint: UInt64?
  /// What the access point says about what its data costs.
  var cost = WirelessCost.notTold
}

/// What the beacon of an access point tells about the price of its data.
enum WirelessCost: Hashable, Sendable {
  case notTold
  /// It says that it costs.
  case metered(String)
  /// It says that it does not.
  case free
  /// It looks like a phone's.
  case phone(String)
}

extension WirelessNetwork {
  /// Takes in what a beacon or a probe response says.
  mutating func read(_ elements: InformationElements) {
    for element in elements {
      switch element.identifier {
      case Self.nameElement:
        if !element.payload.allSatisfy({ $0 == 0 }) {
          name = String(validating: element.payload, as: UTF8.self)
        }
      case Self.vendorElement: read(vendor: element.payload)
      default: break
      }
    }
    guard cost == .notTold, let accessPoint, accessPoint >> 24 == Self.androidPrefix else { return }
    cost = .phone("the access point has the address of an Android phone's")
  }

  private mutating func read(vendor payload: UnsafeRawBufferPointer) {
    guard payload.count >= 4 else { return }
    let vendor = UInt32(payload[0]) << 16 | UInt32(payload[1]) << 8 | UInt32(payload[2])
    switch (vendor, payload[3]) {
    case (Self.microsoft, 0x11) where payload.count >= 8:
      // What costs for certain is not outdone by another element.
      if case .metered = cost { return }
      cost = Self.cost(level: payload[4], flags: payload[6]) ?? cost
    case (Self.microsoft, 0x12) where cost == .notTold:
      cost = .phone("the access point is a connection that a device shares")
    case (Self.apple, _) where cost == .notTold && isLocallyAddressed:
      cost = .phone("the access point looks like an iPhone's hotspot")
    default: break
    }
  }

  /// Reads Microsoft's Network Cost element ([MS-NCT] 2.2).
  private static func cost(level: UInt8, flags: UInt8) -> WirelessCost? {
    if flags & 0x01 != 0 { return .metered("the access point says that its data limit is used up") }
    return switch level {
    case 1: .free
    case 2: .metered("the access point says that its data is limited")
    case 4: .metered("the access point says that data costs by volume")
    default: nil
    }
  }

  /// Whether the radio's address is made up, as phones do, rather than given by the maker.
  private var isLocallyAddressed: Bool {
    accessPoint.map { $0 >> 40 & 0x02 != 0 } ?? false
  }

  private static let nameElement: UInt8 = 0
  private static let vendorElement: UInt8 = 221
  private static let microsoft: UInt32 = 0x00_50_f2
  private static let apple: UInt32 = 0x00_17_f2
  /// What Android's hotspots had before their addresses were made up anew each time.
  private static let androidPrefix: UInt64 = 0x02_1a_11
}

/// What a beacon of Wi-Fi says, element by element (IEEE 802.11, 9.4.2).
///
/// Reading ends at the first element that is cut off.
struct InformationElements: Sequence, IteratorProtocol {
  struct Element {
    let identifier: UInt8
    let payload: UnsafeRawBufferPointer
  }

  private var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) {
    rest = bytes
  }

  mutating func next() -> Element? {
    guard rest.count >= 2, rest.count >= 2 + Int(rest[1]) else { return nil }
    let end = 2 + Int(rest[1])
    let element = Element(identifier: rest[0], payload: UnsafeRawBufferPointer(rebasing: rest[2..<end]))
    rest = UnsafeRawBufferPointer(rebasing: rest[end...])
    return element
  }
}

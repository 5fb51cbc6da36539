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

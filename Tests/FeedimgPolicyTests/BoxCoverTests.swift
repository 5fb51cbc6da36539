import FeedimgPolicy
import Testing

/// The boxes for a set of states: exact, and as few as possible.
struct BoxCoverTests {
  /// Five networks, three states of the original, three of the thumbnail.
  private static let sides = [5, 3, 3]

  @Test(arguments: UInt64(1)...6) func `boxes hold exactly the states, and fewer boxes cannot`(
    seed: UInt64
  ) throws {
    let space = try Shipped.table("wifi-only").space()
    let everyBox = Self.everyBox
    var random = SplitMix(seed: seed)
    for _ in 0..<30 {
      // Rules leave unions of boxes; single states are the hardest case.
      var wanted: UInt64 = 0
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        wanted |= everyBox.randomElement(using: &random) ?? 0
      }
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        wanted &= ~(1 << UInt64.random(in: 0..<45, using: &random))
      }
      guard wanted != 0 else { continue }
      let states = (0..<45).filter { wanted >> UInt64($0) & 1 == 1 }
      let boxes = BoxCover(in: space).boxes(covering: states)
      #expect(Set(boxes.flatMap(space.states)).sorted() == states)

      let disjoint = BoxCover(in: space).disjointBoxes(covering: states)
      #expect(disjoint.flatMap(space.states).sorted() == states)

      let inside = everyBox.filter { $0 & ~wanted == 0 }
      #expect(boxes.count == 1 || !inside.contains(wanted))
      guard boxes.count > 2 else { continue }
      let largest = inside.filter { box in !inside.contains { $0 != box && box & ~$0 == 0 } }
      #expect(!largest.contains { one in largest.contains { one | $0 == wanted } })
      guard boxes.count > 3 else { continue }
      let isThreeEnough = largest.contains { one in
        largest.contains { two in largest.contains { one | two | $0 == wanted } }
      }
      #expect(!isThreeEnough)
    }
  }

  /// Every possible box as a set of states, one bit each.
  private static var everyBox: [UInt64] {
    var boxes: [UInt64] = []
    for first in 1..<(1 << sides[0]) {
      for second in 1..<(1 << sides[1]) {
        for third in 1..<(1 << sides[2]) {
          var box: UInt64 = 0
          for state in 0..<45 {
            let isInside =
              first >> (state / 9) & 1 == 1 && second >> (state / 3 % 3) & 1 == 1
              && third >> (state % 3) & 1 == 1
            if isInside { box |= 1 << UInt64(state) }
          }
          boxes.append(box)
        }
      }
    }
    return boxes
  }
}

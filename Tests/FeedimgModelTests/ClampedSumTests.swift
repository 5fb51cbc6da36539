import FeedimgModel
import Testing

struct ClampedSumTests {
  @Test func `a sum stops at the limits of its type`() {
    #expect(Int8(100).addingClamped(27) == 127)
    #expect(Int8(100).addingClamped(28) == 127)
    #expect(Int8(-100).addingClamped(-29) == -128)
    #expect(UInt64.max.addingClamped(1) == .max)
  }
}

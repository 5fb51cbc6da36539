import FeedimgModel
import Testing

struct SituationTests {
  @Test(
    "a quantity is at least zero, and unknown only if it was not given",
    arguments: [
      (nil, nil), (0, 0), (20, 20), (-1, 0), (Int.min, 0), (Int.max, Int.max - 1), (Int.max - 1, Int.max - 1),
    ] as [(Int?, Int?)]
  )
  func quantities(said: Int?, known: Int?) {
    let situation = Situation(
      network: .wifi,
      original: .remote,
      thumbnail: .remote,
      size: said.map { ByteCount($0) },
      budgetLeft: said.map { ByteCount($0) },
      bandwidth: said,
      battery: said
    )
    #expect(situation.size?.bytes == known)
    #expect(situation.budgetLeft?.bytes == known)
    #expect(situation.bandwidth == known)
    #expect(situation.battery == known)
  }
}

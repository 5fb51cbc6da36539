import FeedimgModel
import FeedimgPolicy
import Testing

struct ThresholdTests {
  /// Nine thresholds of one fact, and one of another.
  static let policy = """
    | battery | size   | → image     |
    |---------|--------|-------------|
    | < 10 %  | -      | placeholder |
    | < 20 %  | -      | cached      |
    | < 30 %  | -      | thumbnail   |
    | < 40 %  | -      | placeholder |
    | < 50 %  | -      | cached      |
    | < 60 %  | -      | thumbnail   |
    | < 70 %  | -      | placeholder |
    | < 80 %  | -      | cached      |
    | < 90 %  | -      | thumbnail   |
    | unknown | -      | placeholder |
    | -       | < 1 kB | original    |
    | -       | -      | thumbnail   |
    """

  @Test(
    "a quantity with many thresholds finds its rule",
    arguments: [
      (0, nil, 1), (9, nil, 1), (10, nil, 2), (29, nil, 3), (39, nil, 4), (40, nil, 5), (49, 0, 5),
      (50, nil, 6),
      (69, nil, 7), (79, nil, 8), (80, nil, 9), (89, 999, 9), (90, 999, 11), (90, 1000, 12), (90, nil, 12),
      (Int.max, 0, 11), (nil, 0, 10), (nil, nil, 10),
    ] as [(Int?, Int?, Int)]
  )
  func rules(battery: Int?, size: Int?, rule: Int) throws {
    let policy = try CompiledPolicy(
      PolicyTable(name: "thresholds", fileName: "thresholds.md", markdown: Array(Self.policy.utf8))
    )
    let situation = Situation(
      network: .wifi,
      original: .remote,
      thumbnail: .remote,
      size: size.map { ByteCount($0) },
      battery: battery
    )
    #expect(policy.decide(situation).rule == rule)
  }
}

import FeedimgJSON
import FeedimgModel
import FeedimgPolicies
import FeedimgPolicy
import Testing

/// The differences of policies, with witnesses.
struct DiffTests {
  @Test func `the data saver spends more than the default on a free cellular link`() throws {
    let diff = try PolicyDiff(from: Shipped.table("default"), to: Shipped.table("data-saver"))
    #expect(diff.headline == "default → data-saver: 126 of 540 states differ; 120 load less, 6 load more")
    let more = diff.changes.filter { $0.weight > 0 }.map { [$0.headline] + $0.boxes }
    #expect(
      more == [
        [
          "load nothing → original   (2 states)",
          "network cellular/other, metered no, data saver off, always original no, original remote,"
            + " thumbnail cached",
        ],
        [
          "load nothing → original   (2 states)",
          "network cellular/other, metered no, data saver off, always original no, original remote,"
            + " thumbnail none",
        ],
        [
          "load thumbnail → original   (2 states)",
          "network cellular/other, metered no, data saver off, always original no, original remote,"
            + " thumbnail remote",
        ],
      ]
    )
    #expect(diff.changes.first { $0.weight > 0 }?.witness.situation.network == .cellular)
  }

  @Test func `the roaming-aware policy loads less and never more`() throws {
    let diff = try PolicyDiff(from: Shipped.table("default"), to: Shipped.table("roaming-aware"))
    #expect(diff.headline == "default → roaming-aware: 12 of 180 states differ; 12 load less, 0 load more")
    #expect(diff.moreCount == 0)
  }

  @Test func `showing another image is a difference even without a load`() throws {
    let old = try table("| network | → image |\n|--|--|\n| offline | placeholder |\n| - | cached |\n")
    let new = try table("| → image |\n|--|\n| cached |\n")
    let diff = try PolicyDiff(from: old, to: new)
    #expect(diff.headline == "x → x: 5 of 45 states differ; 0 load less, 0 load more")
    #expect(
      diff.changes.map(\.headline) == [
        "image placeholder → original, now placeholder → original   (3 states)",
        "image placeholder → thumbnail, now placeholder → thumbnail   (2 states)",
      ]
    )
  }

  @Test(arguments: ShippedPolicies.all.map(\.name))
  func `a policy equals itself, and reversing a comparison reverses the result`(name: String) throws {
    let table = try Shipped.table(name)
    let base = try Shipped.table("default")
    #expect(try PolicyDiff(from: table, to: table).changes.isEmpty)
    let forth = try PolicyDiff(from: base, to: table)
    let back = try PolicyDiff(from: table, to: base)
    #expect(forth.differingCount == back.differingCount)
    #expect(forth.lessCount == back.moreCount)
    #expect(forth.stateCount == back.stateCount)
    #expect(forth.json["differ"]?.integer == forth.differingCount)
  }

  @Test func `a policy with a gap cannot be compared`() throws {
    let gap = try table("| network | → image |\n|--|--|\n| offline | placeholder |\n")
    let error = #expect(throws: PolicyErrors.self) {
      try PolicyDiff(from: gap, to: Shipped.table("wifi-only"))
    }
    #expect(error?.description == "x.md: no rule for: network wifi/ethernet/cellular/other (36 states)")
  }

  private func table(_ text: String) throws -> PolicyTable {
    try PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8))
  }
}

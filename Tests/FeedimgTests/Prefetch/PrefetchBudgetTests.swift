import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct PrefetchAllowanceTests {
  private enum Step {
    /// A load is about to start. Its item declares a size.
    case enter(Int, Int?, PrefetchBudget.Entry)
    /// A load has received this many bytes of the announced size.
    case note(Int, Int, Int?, Prefetch.Reason?)
    case leave(Int)
    /// Another item with the image of the step before.
    case enterSame(Int, Int?, PrefetchBudget.Entry)
    /// The same, for a load that joined the transfer of another one.
    case noteShared(Int, Int, Int?, Prefetch.Reason?)
  }

  private struct Row: CustomTestStringConvertible {
    let testDescription: String
    var total = 1000
    var perImage = 500
    let steps: [Step]
    let spent: Int
  }

  private static let table = [
    Row(
      testDescription: "declared sizes are reserved at the start, and loads that do not fit wait",
      steps: [
        .enter(0, 400, .begin), .enter(1, 400, .begin), .enter(2, 400, .wait), .enter(3, 200, .begin),
        .note(0, 0, 400, nil), .note(0, 400, 400, nil), .leave(0), .enter(2, 400, .wait),
        .note(1, 0, 400, nil), .note(1, 400, 400, nil), .leave(1), .enter(2, 400, .leaveOut(.spent)),
      ],
      spent: 800
    ),
    Row(
      testDescription: "the unused part of a declared size is available to others",
      steps: [
        .enter(0, 500, .begin), .enter(1, 500, .begin), .enter(2, 300, .wait), .note(0, 0, 100, nil),
        .enter(2, 300, .begin),
      ],
      spent: 0
    ),
    Row(
      testDescription: "a body larger than declared stops at its head, and the others continue",
      steps: [
        .enter(0, 400, .begin), .enter(1, 400, .begin), .note(0, 0, 450, nil), .note(1, 0, 480, nil),
        .enter(2, 70, .begin), .note(2, 0, 71, .spent), .note(0, 450, 450, nil), .leave(0),
      ],
      spent: 450
    ),
    Row(
      testDescription: "the reservation of a failed load is available to others",
      steps: [
        .enter(0, 500, .begin), .enter(1, 500, .begin), .note(0, 0, 500, nil), .note(1, 0, 500, nil),
        .enter(2, 400, .wait), .leave(0), .enter(2, 400, .begin),
      ],
      spent: 0
    ),
    Row(
      testDescription: "without budget no load starts",
      total: 0,
      steps: [.enter(0, nil, .leaveOut(.spent)), .enter(1, 1, .leaveOut(.spent))],
      spent: 0
    ),
    Row(
      testDescription: "an image of exactly the maximum size is not too large",
      steps: [
        .enter(0, 501, .leaveOut(.tooLarge)), .enter(1, 500, .begin), .note(1, 0, 500, nil),
        .enter(2, nil, .begin), .note(2, 0, 501, .tooLarge),
      ],
      spent: 0
    ),
    Row(
      testDescription: "loads of unknown size start while they are likely to fit, then one at a time",
      steps: [
        .enter(0, nil, .begin), .enter(1, nil, .begin), .enter(2, nil, .wait), .note(0, 0, 300, nil),
        .enter(2, nil, .wait), .note(1, 0, 300, nil), .enter(2, nil, .begin), .enter(3, nil, .wait),
        .note(2, 0, 300, nil), .enter(3, nil, .wait), .note(0, 300, 300, nil), .leave(0),
        .note(1, 300, 300, nil), .leave(1), .note(2, 300, 300, nil), .leave(2),
        .enter(3, nil, .begin), .enter(4, nil, .wait), .note(3, 0, 300, .spent), .leave(3),
        .enter(4, nil, .begin), .note(4, 0, 100, nil),
      ],
      spent: 900
    ),
    Row(
      testDescription: "a few images that do not fit stop further attempts",
      total: 400,
      steps: [
        .enter(0, 300, .begin), .note(0, 0, 300, nil), .enter(1, nil, .wait), .note(0, 300, 300, nil),
        .leave(0),
        .enter(1, nil, .begin), .note(1, 0, 300, .spent), .leave(1),
        .enter(2, nil, .begin), .note(2, 0, 300, .spent), .leave(2),
        .enter(3, nil, .begin), .note(3, 0, 300, .spent), .leave(3),
        .enter(4, nil, .begin), .note(4, 0, 300, .spent), .leave(4),
        .enter(5, nil, .leaveOut(.spent)), .enter(6, 100, .begin),
      ],
      spent: 300
    ),
    Row(
      testDescription: "of the bodies without a length that may not all fit, the first continues",
      steps: [
        .enter(0, nil, .begin), .enter(1, 400, .begin), .note(0, 0, nil, nil), .note(1, 0, nil, nil),
        .note(0, 200, nil, nil), .leave(0), .enter(2, nil, .begin), .note(2, 0, nil, nil),
        .note(1, 401, nil, .spent), .leave(1), .note(2, 399, nil, nil), .note(2, 400, nil, .spent),
      ],
      spent: 1001
    ),
    Row(
      testDescription: "without a length the declared size is used while it holds",
      steps: [
        .enter(0, 300, .begin), .enter(1, nil, .begin), .enter(2, 200, .begin), .note(1, 0, nil, nil),
        .note(0, 0, nil, nil), .note(0, 300, nil, nil), .note(2, 0, nil, nil), .note(2, 201, nil, .spent),
      ],
      spent: 501
    ),
    Row(
      testDescription: "stored bytes and restarted bytes are counted once",
      steps: [
        .enter(0, nil, .begin), .note(0, 100, 300, nil), .note(0, 150, 300, nil), .note(0, 0, 300, nil),
        .note(0, 300, 300, nil), .leave(0),
      ],
      spent: 350
    ),
    Row(
      testDescription: "an image that a running load fetches waits for that load",
      steps: [
        .enterSame(0, 400, .begin), .enterSame(1, 400, .wait), .enter(2, 400, .begin), .note(0, 0, 400, nil),
        .note(0, 400, 400, nil), .enterSame(1, 200, .wait), .leave(0), .enterSame(1, 200, .begin),
      ],
      spent: 400
    ),
    Row(
      testDescription: "bytes that another caller pays for are not reserved",
      steps: [
        .enterSame(0, 500, .begin), .noteShared(0, 100, 500, nil), .enter(1, 500, .begin),
        .enter(2, 500, .begin), .noteShared(0, 400, 500, nil), .note(0, 500, 500, nil),
      ],
      spent: 100
    ),
    Row(
      testDescription: "absurd sizes are safe",
      total: .max,
      perImage: .max,
      steps: [
        .enter(0, .max, .begin), .enter(1, .max, .wait), .enter(2, nil, .wait), .note(0, 0, .max, nil),
        .note(0, .max, .max, nil), .leave(0), .leave(9), .note(9, 1, 1, nil), .enter(2, 1, .leaveOut(.spent)),
      ],
      spent: 1 << 53
    ),
  ]

  @Test(arguments: table) private func `the remaining budget goes to images that fit`(row: Row) {
    let limits = Prefetch.Limits(total: ByteCount(row.total), perImage: ByteCount(row.perImage))
    var allowance = PrefetchBudget(limits)
    for (number, step) in row.steps.enumerated() {
      switch step {
      case .enter(let index, let size, let entry):
        #expect(allowance.enter(index, size: size.map { ByteCount($0) }, of: nil) == entry, "step \(number)")
      case .note(let index, let received, let total, let reason):
        let told = LoadProgress(received: ByteCount(received), total: total.map { ByteCount($0) })
        #expect(allowance.note(index, told, isFirst: true) == reason, "step \(number)")
      case .leave(let index): allowance.leave(index)
      case .enterSame(let index, let size, let entry):
        let size = size.map { ByteCount($0) }
        #expect(allowance.enter(index, size: size, of: "same") == entry, "step \(number)")
      case .noteShared(let index, let received, let total, let reason):
        let told = LoadProgress(received: ByteCount(received), total: total.map { ByteCount($0) })
        #expect(allowance.note(index, told, isFirst: false) == reason, "step \(number)")
      }
    }
    #expect(allowance.spent == row.spent)
  }
}

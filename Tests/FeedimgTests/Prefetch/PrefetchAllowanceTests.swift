import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct PrefetchAllowanceTests {
  private enum Step {
    /// An image would be loaded, whose item declares a size.
    case enter(Int, Int?, PrefetchAllowance.Entry)
    /// A load has come so far, of what was announced.
    case note(Int, Int, Int?, Prefetch.Reason?)
    case leave(Int)
    /// Another item has the image that the step is about, as all have that are entered so.
    case enterSame(Int, Int?, PrefetchAllowance.Entry)
    /// The same, for a load that is not the first of those who share a transfer.
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
      testDescription: "what is declared is kept from the beginning, and what does not fit waits",
      steps: [
        .enter(0, 400, .begin), .enter(1, 400, .begin), .enter(2, 400, .wait), .enter(3, 200, .begin),
        .note(0, 0, 400, nil), .note(0, 400, 400, nil), .leave(0), .enter(2, 400, .wait),
        .note(1, 0, 400, nil), .note(1, 400, 400, nil), .leave(1), .enter(2, 400, .leaveOut(.spent)),
      ],
      spent: 800
    ),
    Row(
      testDescription: "what a declaration was too large by is there for others",
      steps: [
        .enter(0, 500, .begin), .enter(1, 500, .begin), .enter(2, 300, .wait), .note(0, 0, 100, nil),
        .enter(2, 300, .begin),
      ],
      spent: 0
    ),
    Row(
      testDescription: "what comes to more than was declared gives way with its head, and the others do not",
      steps: [
        .enter(0, 400, .begin), .enter(1, 400, .begin), .note(0, 0, 450, nil), .note(1, 0, 480, nil),
        .enter(2, 70, .begin), .note(2, 0, 71, .spent), .note(0, 450, 450, nil), .leave(0),
      ],
      spent: 450
    ),
    Row(
      testDescription: "what was kept for a load that failed is there for others",
      steps: [
        .enter(0, 500, .begin), .enter(1, 500, .begin), .note(0, 0, 500, nil), .note(1, 0, 500, nil),
        .enter(2, 400, .wait), .leave(0), .enter(2, 400, .begin),
      ],
      spent: 0
    ),
    Row(
      testDescription: "with nothing left nothing begins",
      total: 0,
      steps: [.enter(0, nil, .leaveOut(.spent)), .enter(1, 1, .leaveOut(.spent))],
      spent: 0
    ),
    Row(
      testDescription: "nothing is too large that is just as large as one may be",
      steps: [
        .enter(0, 501, .leaveOut(.tooLarge)), .enter(1, 500, .begin), .note(1, 0, 500, nil),
        .enter(2, nil, .begin), .note(2, 0, 501, .tooLarge),
      ],
      spent: 0
    ),
    Row(
      testDescription: "of unknown size so many begin as are likely to fit, then one after the other",
      steps: [
        .enter(0, nil, .begin), .enter(1, nil, .begin), .enter(2, nil, .wait), .note(0, 0, 300, nil),
        .enter(2, nil, .wait), .note(1, 0, 300, nil), .enter(2, nil, .begin), .enter(3, nil, .wait),
        .note(2, 0, 300, nil), .enter(3, nil, .begin), .note(3, 0, 300, .spent), .leave(3),
        .enter(4, nil, .begin), .note(4, 0, 100, nil), .enter(5, nil, .wait),
      ],
      spent: 0
    ),
    Row(
      testDescription: "a few that turn out not to fit are enough to know",
      total: 400,
      steps: [
        .enter(0, 300, .begin), .note(0, 0, 300, nil),
        .enter(1, nil, .begin), .note(1, 0, 300, .spent), .leave(1),
        .enter(2, nil, .begin), .note(2, 0, 300, .spent), .leave(2),
        .enter(3, nil, .begin), .note(3, 0, 300, .spent), .leave(3),
        .enter(4, nil, .begin), .note(4, 0, 300, .spent), .leave(4),
        .enter(5, nil, .wait), .note(0, 300, 300, nil), .leave(0), .enter(5, nil, .leaveOut(.spent)),
        .enter(6, 100, .begin),
      ],
      spent: 300
    ),
    Row(
      testDescription: "of those without a length one goes on, and others give way with their heads",
      steps: [
        .enter(0, nil, .begin), .enter(1, nil, .begin), .note(0, 0, nil, nil), .note(1, 0, nil, nil),
        .enter(2, nil, .wait), .note(0, 200, nil, nil), .leave(0), .enter(2, nil, .begin),
        .enter(3, nil, .wait), .note(2, 0, nil, .spent), .leave(2), .note(1, 400, nil, nil), .leave(1),
        .enter(2, nil, .begin), .note(2, 0, nil, nil), .note(2, 300, nil, nil), .note(2, 400, nil, nil),
        .note(2, 401, nil, .spent),
      ],
      spent: 1001
    ),
    Row(
      testDescription: "without a length what was declared is believed, as long as that holds",
      steps: [
        .enter(0, 300, .begin), .enter(1, nil, .begin), .enter(2, 200, .begin), .note(1, 0, nil, nil),
        .note(0, 0, nil, nil), .note(0, 300, nil, nil), .note(2, 0, nil, nil), .note(2, 201, nil, .spent),
      ],
      spent: 501
    ),
    Row(
      testDescription: "what was there before, or begins anew, was not spent twice",
      steps: [
        .enter(0, nil, .begin), .note(0, 100, 300, nil), .note(0, 150, 300, nil), .note(0, 0, 300, nil),
        .note(0, 300, 300, nil), .leave(0),
      ],
      spent: 350
    ),
    Row(
      testDescription: "for what several share room is kept once, and one alone pays",
      steps: [
        .enterSame(0, 400, .begin), .enterSame(1, 400, .begin), .enterSame(2, 400, .begin),
        .enter(3, 400, .begin), .enter(4, 400, .wait), .note(0, 0, 400, nil), .noteShared(1, 0, 400, nil),
        .note(0, 200, 400, nil), .noteShared(1, 200, 400, nil), .enter(4, 200, .begin),
        .enter(5, 200, .wait), .note(0, 400, 400, nil), .noteShared(1, 400, 400, nil),
        .noteShared(2, 400, 400, nil), .leave(2), .leave(0), .leave(1), .enter(5, 200, .wait),
      ],
      spent: 400
    ),
    Row(
      testDescription: "who is first after another has left pays for the rest, and room is kept for that",
      steps: [
        .enterSame(0, nil, .begin), .enterSame(1, nil, .begin), .note(0, 0, 500, nil),
        .noteShared(1, 0, 500, nil), .note(0, 200, 500, nil), .noteShared(1, 200, 500, nil), .leave(0),
        .note(1, 300, 500, nil), .enter(2, 500, .begin), .enter(3, 100, .wait), .note(1, 500, 500, nil),
      ],
      spent: 500
    ),
    Row(
      testDescription: "those who share what does not fit give way together",
      total: 500,
      steps: [
        .enter(9, 200, .begin), .note(9, 0, 200, nil), .enterSame(0, 250, .begin),
        .enterSame(1, 250, .begin), .note(0, 0, 400, .spent), .noteShared(1, 100, 400, nil), .leave(0),
        .note(1, 200, 400, nil), .enterSame(0, 400, .wait),
      ],
      spent: 100
    ),
    Row(
      testDescription: "nothing is kept for what comes for somebody else",
      steps: [
        .enterSame(0, 500, .begin), .noteShared(0, 100, 500, nil), .enter(1, 500, .begin),
        .enter(2, 500, .begin), .noteShared(0, 400, 500, nil), .note(0, 500, 500, nil),
      ],
      spent: 100
    ),
    Row(
      testDescription: "sizes that nobody has are no trouble",
      total: .max,
      perImage: .max,
      steps: [
        .enter(0, .max, .begin), .enter(1, .max, .wait), .enter(2, nil, .wait), .note(0, 0, .max, nil),
        .note(0, .max, .max, nil), .leave(0), .leave(9), .note(9, 1, 1, nil), .enter(2, 1, .leaveOut(.spent)),
      ],
      spent: 1 << 53
    ),
  ]

  @Test(arguments: table) private func `what is left is given to those that fit`(row: Row) {
    let limits = Prefetch.Limits(total: ByteCount(row.total), perImage: ByteCount(row.perImage))
    var allowance = PrefetchAllowance(limits)
    for (number, step) in row.steps.enumerated() {
      switch step {
      case .enter(let index, let size, let entry):
        #expect(allowance.enter(index, size: size.map { ByteCount($0) }) == entry, "step \(number)")
      case .note(let index, let received, let total, let reason):
        let told = LoadProgress(received: ByteCount(received), total: total.map { ByteCount($0) })
        #expect(allowance.note(index, told) == reason, "step \(number)")
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

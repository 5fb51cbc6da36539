import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct CoalescerStateTests {
  private let key = "http://x.example/a"

  @Test func `the first caller starts a run and the second joins it`() {
    var table = CoalescerState()
    let (first, second) = (table.issue(), table.issue())
    guard case .start(let run) = table.join(key, first, .near) else {
      return #expect(Bool(false), "no start")
    }
    #expect(table.join(key, second, .near) == .join(run))
    #expect(table.finish(run) == [first, second])
    #expect(table.isEmpty)
  }

  @Test func `a run stops only when its last caller leaves`() {
    var table = CoalescerState()
    let (first, second) = (table.issue(), table.issue())
    guard case .start(let run) = table.join(key, first, .near) else {
      return #expect(Bool(false), "no start")
    }
    _ = table.join(key, second, .near)
    #expect(table.leave(first) == .keep(run))
    #expect(table.leave(second) == .stop(run))
    #expect(table.isEmpty)
  }

  @Test func `a stopped run that ends late does not deliver to callers of the next run`() {
    var table = CoalescerState()
    let (first, second) = (table.issue(), table.issue())
    guard case .start(let old) = table.join(key, first, .near) else {
      return #expect(Bool(false), "no start")
    }
    #expect(table.leave(first) == .stop(old))
    guard case .start(let new) = table.join(key, second, .near) else {
      return #expect(Bool(false), "no new start")
    }
    #expect(table.finish(old) == [])
    #expect(table.finish(new) == [second])
  }

  @Test func `a caller that left before joining gets a result at once and starts nothing`() {
    var table = CoalescerState()
    let waiter = table.issue()
    #expect(table.leave(waiter) == .nothing)
    #expect(table.join(key, waiter, .near) == .gone)
    #expect(table.isEmpty)
  }

  @Test func `leaving after the result does nothing and is remembered until forgotten`() {
    var table = CoalescerState()
    let waiter = table.issue()
    guard case .start(let run) = table.join(key, waiter, .near) else {
      return #expect(Bool(false), "no start")
    }
    #expect(table.finish(run) == [waiter])
    #expect(table.leave(waiter) == .nothing)
    table.forget(waiter)
    #expect(table.isEmpty)
  }

  @Test func `different keys do not wait for each other`() {
    var table = CoalescerState()
    let (first, second) = (table.issue(), table.issue())
    guard case .start(let one) = table.join("a", first, .near),
      case .start(let other) = table.join("b", second, .near)
    else {
      return #expect(Bool(false), "no starts")
    }
    #expect(table.finish(one) == [first])
    #expect(table.finish(other) == [second])
  }

  @Test func `a run has the highest priority among its callers, and it falls when they leave`() {
    var table = CoalescerState()
    let (first, second, third) = (table.issue(), table.issue(), table.issue())
    guard case .start(let run) = table.join(key, first, .prefetch) else {
      return #expect(Bool(false), "no start")
    }
    #expect(table.priority(of: run) == .prefetch)
    _ = table.join(key, second, .visible)
    _ = table.join(key, third, .near)
    #expect(table.priority(of: run) == .visible)
    _ = table.leave(second)
    #expect(table.priority(of: run) == .near)
    #expect(table.setPriority(third, .prefetch) == run)
    #expect(table.priority(of: run) == .prefetch)
    #expect(table.setPriority(second, .visible) == nil, "a caller that has left has no priority")
    _ = table.finish(run)
    #expect(table.priority(of: run) == nil)
  }
}

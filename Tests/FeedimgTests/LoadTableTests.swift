import Testing

@testable import Feedimg

@Suite struct LoadTableTests {
  private let key = "http://x.example/a"

  @Test func `the first who asks starts a run and the second joins it`() {
    var table = LoadTable()
    let (first, second) = (table.issue(), table.issue())
    guard case .start(let run) = table.join(key, first) else { return #expect(Bool(false), "no start") }
    #expect(table.join(key, second) == .join)
    #expect(table.finish(run) == [first, second])
    #expect(table.isEmpty)
  }

  @Test func `only the last one out stops the run`() {
    var table = LoadTable()
    let (first, second) = (table.issue(), table.issue())
    guard case .start(let run) = table.join(key, first) else { return #expect(Bool(false), "no start") }
    _ = table.join(key, second)
    #expect(table.leave(first) == .keep)
    #expect(table.leave(second) == .stop(run))
    #expect(table.isEmpty)
  }

  @Test func `a stopped run that ends late answers nobody of the next run`() {
    var table = LoadTable()
    let (first, second) = (table.issue(), table.issue())
    guard case .start(let old) = table.join(key, first) else { return #expect(Bool(false), "no start") }
    #expect(table.leave(first) == .stop(old))
    guard case .start(let new) = table.join(key, second) else { return #expect(Bool(false), "no new start") }
    #expect(table.finish(old) == [])
    #expect(table.finish(new) == [second])
  }

  @Test func `who left before joining is answered at once and starts nothing`() {
    var table = LoadTable()
    let waiter = table.issue()
    #expect(table.leave(waiter) == .keep)
    #expect(table.join(key, waiter) == .gone)
    #expect(table.isEmpty)
  }

  @Test func `leaving after the answer does nothing but is remembered until forgotten`() {
    var table = LoadTable()
    let waiter = table.issue()
    guard case .start(let run) = table.join(key, waiter) else { return #expect(Bool(false), "no start") }
    #expect(table.finish(run) == [waiter])
    #expect(table.leave(waiter) == .keep)
    table.forget(waiter)
    #expect(table.isEmpty)
  }

  @Test func `different keys do not wait for each other`() {
    var table = LoadTable()
    let (first, second) = (table.issue(), table.issue())
    guard case .start(let one) = table.join("a", first), case .start(let other) = table.join("b", second)
    else {
      return #expect(Bool(false), "no starts")
    }
    #expect(table.finish(one) == [first])
    #expect(table.finish(other) == [second])
  }
}

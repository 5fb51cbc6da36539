import Testing

@testable import FeedimgSystem

/// Tasks that wait for a value.
@Suite(.timeLimit(.minutes(10))) struct WaitersTests {
  private let waiters = Waiters<Int>()

  private func start(_ count: Int) async -> [Task<Int?, Never>] {
    var tasks: [Task<Int?, Never>] = []
    for number in 1...count {
      tasks.append(Task { [waiters] in await waiters.wait() })
      while waiters.count < number { await Task.yield() }
    }
    return tasks
  }

  @Test func `all waiting tasks get the value, and later ones wait for the next`() async {
    let tasks = await start(3)
    waiters.resumeAll(returning: 7)
    for task in tasks { #expect(await task.value == 7) }
    let later = await start(1)
    waiters.resumeAll(returning: 8)
    #expect(await later[0].value == 8)
  }

  @Test func `a cancelled task gets nil, and the others keep waiting`() async {
    let tasks = await start(2)
    tasks[0].cancel()
    #expect(await tasks[0].value == nil)
    #expect(waiters.count == 1)
    waiters.resumeAll(returning: 7)
    #expect(await tasks[1].value == 7)
  }

  @Test func `a task that was cancelled before it waits gets nil at once`() async {
    let task = Task { [waiters] in
      withUnsafeCurrentTask { $0?.cancel() }
      return await waiters.wait { 7 }
    }
    #expect(await task.value == nil)
    #expect(waiters.count == 0)
  }

  @Test func `an available value is returned at once`() async {
    #expect(await waiters.wait { 7 } == 7)
  }

  @Test func `cancellation and value at once resume each task exactly once`() async {
    for _ in 0..<200 {
      let waiters = Waiters<Int>()
      let ready = Promise<Int>()
      let task = Task { await waiters.wait { ready.current } }
      let resumer = Task {
        ready.resolve(7)
        waiters.resumeAll(returning: 7)
      }
      let canceller = Task { task.cancel() }
      await resumer.value
      await canceller.value
      #expect([7, nil].contains(await task.value))
      #expect(waiters.count == 0)
    }
  }
}

/// Values and events that arrive once.
@Suite(.timeLimit(.minutes(10))) struct PromiseTests {
  /// A clock whose sleeps end when the test says so, or with the task.
  private let sleeps = Waiters<Void>()
  private var time: MonotonicTime {
    MonotonicTime(
      now: { .zero },
      sleep: { [sleeps] _ in if await sleeps.wait() == nil { throw CancellationError() } }
    )
  }

  @Test func `a value reaches tasks that waited for it and tasks that come later`() async {
    let promise = Promise<Int>()
    let task = Task { await promise.value() }
    #expect(promise.current == nil)
    #expect(promise.resolve(7))
    #expect(!promise.resolve(8), "the first value counts")
    #expect(await task.value == 7)
    #expect(await promise.value() == 7)
    #expect(promise.current == 7)
  }

  @Test func `cancellation ends the wait of one task`() async {
    let event = Event()
    let (one, other) = (Task { await event.wait() }, Task { await event.wait() })
    one.cancel()
    #expect(await !one.value)
    event.signal()
    #expect(await other.value)
    #expect(event.current != nil)
  }

  @Test func `a wait ends when its time ends`() async {
    let event = Event()
    let task = Task { [time] in await event.wait(.seconds(1), time) }
    while sleeps.count == 0 { await Task.yield() }
    sleeps.resumeAll()
    #expect(await !task.value)
  }

  @Test func `an event within the time ends the sleep`() async {
    let event = Event()
    let task = Task { [time] in await event.wait(.seconds(1), time) }
    while sleeps.count == 0 { await Task.yield() }
    event.signal()
    #expect(await task.value)
    #expect(sleeps.count == 0)
    #expect(await event.wait(.seconds(1), time), "it has happened, so that nothing sleeps")
  }
}

/// Tasks that wait for one of a few places.
@Suite(.timeLimit(.minutes(10))) struct PriorityWaitersTests {
  private let places = PriorityWaiters<Int>(places: 1)

  @Test func `the highest priority goes first, then the first to arrive`() async {
    var last = places.enter(1)
    let tickets = [2, 1, 2, 3, 2].map { places.enter($0) }
    places.leave(tickets[4])
    places.setPriority(tickets[1], 3)
    for next in [1, 3, 0, 2] {
      places.leave(last)
      last = tickets[next]
      #expect(await places.place(last))
    }
    places.leave(last)
    #expect(places.count == 0)
  }

  @Test func `a place goes to the task of highest priority, also after a change of priority`() async {
    let first = places.enter(1)
    #expect(await places.place(first))
    let (low, high) = (places.enter(1), places.enter(2))
    let waiting = [low, high].map { ticket in Task { [places] in await places.place(ticket) } }
    places.setPriority(low, 3)
    places.leave(first)
    #expect(await waiting[0].value)
    #expect(places.count == 1)
    places.leave(low)
    #expect(await waiting[1].value)
    places.leave(high)
    #expect(places.count == 0)
  }

  @Test func `a cancelled task gets no place and takes none`() async {
    let first = places.enter(1)
    let (gone, next) = (places.enter(2), places.enter(1))
    let task = Task { [places] in await places.place(gone) }
    task.cancel()
    #expect(await !task.value)
    places.leave(gone)
    places.leave(first)
    #expect(await places.place(next))
  }

  @Test func `a task that was cancelled before it waits gets no place`() async {
    let ticket = places.enter(1)
    let task = Task { [places] in
      withUnsafeCurrentTask { $0?.cancel() }
      return await places.place(ticket)
    }
    #expect(await !task.value)
    places.leave(ticket)
  }
}

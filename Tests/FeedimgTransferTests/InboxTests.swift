import FeedimgModel
import Testing

@testable import FeedimgTransfer

struct InboxTests {
  private struct Order: Identifiable {
    var id: Int
  }

  private let reason = LoadError(.cancelled, message: "over")

  @Test func `the first order starts the thread, later ones wake it where it waits`() {
    var inbox = Inbox<Order, Int, String>()
    #expect(!inbox.isStarted)
    #expect(inbox.submit(Order(id: 1)).words == "start")
    #expect(inbox.isStarted)
    #expect(inbox.submit(Order(id: 2)).words == "nothing")
    #expect(inbox.mayWait(waking: "bell").description == "false")
    #expect(inbox.take().orders.map(\.id) == [1, 2])
    #expect(inbox.mayWait(waking: "bell").description == "true")
    #expect(inbox.submit(Order(id: 3)).words == "wake bell")
    #expect(inbox.submit(Order(id: 4)).words == "nothing")
    #expect(inbox.take().orders.map(\.id) == [3, 4])
    #expect(inbox.submit(Order(id: 5)).words == "nothing")
    #expect(inbox.mayWait(waking: "bell").description == "false")
  }

  @Test func `a cancellation is passed on, and starts nothing`() {
    var inbox = Inbox<Order, Int, String>()
    #expect(inbox.cancel(1).words == "nothing")
    _ = inbox.submit(Order(id: 1))
    _ = inbox.take()
    #expect(inbox.mayWait(waking: "bell").description == "true")
    #expect(inbox.cancel(1).words == "wake bell")
    #expect(inbox.mayWait(waking: "bell").description == "false")
    #expect(inbox.take().cancelled == [1])
  }

  @Test func `connections are forgotten where there may be any`() {
    var inbox = Inbox<Order, Int, String>()
    #expect(inbox.forgetConnections().words == "nothing")
    _ = inbox.submit(Order(id: 1))
    #expect(!inbox.take().forgetsConnections)
    #expect(inbox.mayWait(waking: "bell").description == "true")
    #expect(inbox.forgetConnections().words == "wake bell")
    #expect(inbox.mayWait(waking: "bell").description == "false")
    #expect(inbox.take().forgetsConnections)
    #expect(!inbox.take().forgetsConnections)
  }

  @Test func `a step of a task starts the thread, wakes it, and is refused after the end`() {
    var inbox = Inbox<Order, Int, String>()
    #expect(inbox.enqueue(7).words == "start")
    #expect(inbox.take().jobs == [7])
    #expect(inbox.mayWait(waking: "bell").description == "true")
    #expect(inbox.enqueue(8).words == "wake bell")
    #expect(inbox.mayWait(waking: "bell").description == "false")
    #expect(inbox.end(reason).words == "nothing")
    #expect(inbox.enqueue(9).words == "refuse over")
    #expect(inbox.take().jobs == [8])
  }

  @Test func `of two batches nothing is lost`() {
    var inbox = Inbox<Order, Int, String>()
    _ = inbox.submit(Order(id: 1))
    _ = inbox.cancel(1)
    _ = inbox.enqueue(7)
    var batch = inbox.take()
    _ = inbox.submit(Order(id: 2))
    _ = inbox.cancel(2)
    _ = inbox.enqueue(8)
    _ = inbox.forgetConnections()
    _ = inbox.end(reason)
    inbox.take(addingTo: &batch)
    #expect(batch.orders.map(\.id) == [1, 2])
    #expect(batch.cancelled == [1, 2])
    #expect(batch.jobs == [7, 8])
    #expect(batch.forgetsConnections)
    #expect(batch.ending == reason)
    #expect(Inbox<Order, Int, String>.Batch().isEmpty)
  }

  @Test func `after the end nothing is taken and nobody is woken`() {
    var inbox = Inbox<Order, Int, String>()
    _ = inbox.submit(Order(id: 1))
    _ = inbox.take()
    #expect(inbox.mayWait(waking: "bell").description == "true")
    #expect(inbox.end(reason).words == "wake bell")
    #expect(inbox.end(reason).words == "nothing")
    #expect(inbox.submit(Order(id: 2)).words == "refuse over")
    #expect(inbox.cancel(1).words == "nothing")
    let batch = inbox.take()
    #expect(batch.orders.isEmpty)
    #expect(batch.ending == reason)
    #expect(inbox.take().ending == reason)
  }

  @Test func `an end before the first order needs no thread`() {
    var inbox = Inbox<Order, Int, String>()
    #expect(inbox.end(reason).words == "nothing")
    #expect(inbox.submit(Order(id: 1)).words == "refuse over")
    #expect(!inbox.isStarted)
  }
}

extension Inbox {
  fileprivate mutating func take() -> Batch {
    var batch = Batch()
    take(addingTo: &batch)
    return batch
  }
}

extension Inbox.Action where Waker == String {
  fileprivate var words: String {
    switch self {
    case .startThread: "start"
    case .wake(let waker): "wake \(waker)"
    case .nothing: "nothing"
    case .refuse(let error): "refuse \(error.message)"
    }
  }
}

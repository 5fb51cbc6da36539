import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import FeedimgService

/// Who is there, and what happens when nobody is.
@Suite struct ConnectionRegisterTests {
  private final class Count: Sendable {
    let value = Mutex(0)
  }

  private let loop = EmbeddedEventLoop()
  private let given = Count()
  private let rested = Count()

  private func register() -> ConnectionRegister {
    ConnectionRegister(
      limit: 100,
      bodyLimit: 10,
      releaseMemory: { [given] in given.value.withLock { $0 += 1 } },
      rest: { [rested] in rested.value.withLock { $0 += 1 } }
    )
  }

  private func admit(_ register: ConnectionRegister) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loop)
    #expect(register.admit(channel))
    return channel
  }

  private var givenBack: Int { given.value.withLock { $0 } }

  @Test func `memory is given back when the last of many has left, once`() throws {
    let register = register()
    let channels = try (0..<64).map { _ in try admit(register) }
    for channel in channels.dropLast() { channel.close(promise: nil) }
    loop.advanceTime(by: .seconds(10))
    #expect(givenBack == 0, "one is there")
    channels.last?.close(promise: nil)
    loop.advanceTime(by: .milliseconds(999))
    #expect(givenBack == 0, "another one may come")
    loop.advanceTime(by: .milliseconds(1))
    #expect(givenBack == 1)
    try admit(register).close(promise: nil)
    loop.advanceTime(by: .seconds(10))
    #expect(givenBack == 1, "for one that is not worth it")
  }

  @Test func `the loader rests when nobody has been there for a while, each time`() throws {
    let register = register()
    let first = try admit(register)
    loop.advanceTime(by: .seconds(100))
    #expect(rested.value.withLock { $0 } == 0, "one is there")
    first.close(promise: nil)
    loop.advanceTime(by: .milliseconds(999))
    #expect(rested.value.withLock { $0 } == 0, "another one may come")
    loop.advanceTime(by: .milliseconds(1))
    #expect(rested.value.withLock { $0 } == 1)
    try admit(register).close(promise: nil)
    loop.advanceTime(by: .seconds(1))
    #expect(rested.value.withLock { $0 } == 2)
  }

  @Test func `it is given back after much was copied, and nobody has come meanwhile`() throws {
    let register = register()
    let first = try admit(register)
    register.noteCopied(256 << 10)
    first.close(promise: nil)
    let second = try admit(register)
    loop.advanceTime(by: .seconds(10))
    #expect(givenBack == 0)
    second.close(promise: nil)
    loop.advanceTime(by: .seconds(1))
    #expect(givenBack == 1)
  }
}

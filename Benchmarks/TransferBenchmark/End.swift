import Glibc

/// The main thread waits here for the end.
final class End: @unchecked Sendable {
  // Unchecked: the status is set before the semaphore is posted, and read after it.
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  private var status: Int32 = 0

  init() { sem_init(semaphore, 0, 0) }

  func come(_ status: Int32) {
    self.status = status
    sem_post(semaphore)
  }

  func wait() -> Int32 {
    while sem_wait(semaphore) != 0 {}
    return status
  }
}

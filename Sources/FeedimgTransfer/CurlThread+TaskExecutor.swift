extension CurlThread: TaskExecutor {
  /// Runs a step of a task between transfers; elsewhere when the thread has ended.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    switch place(job) {
    case .startThread: spawn()
    case .wake(let multi): multi.wake()
    case .nothing: break
    case .refuse: handOver([job])
    }
  }
}

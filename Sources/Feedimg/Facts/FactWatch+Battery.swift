import Synchronization

extension FactWatch {
  /// Tells when the charge has changed, once a minute at most.
  ///
  /// Reads it while somebody watches, and only where there is a battery and the policy asks for it. The kernel's
  /// events would come sooner, but a charge changes by a percent in minutes.
  func followBattery() {
    guard let charge = battery() else { return }
    state.withLock { state in
      guard !state.tasks.isEmpty, !state.followsBattery else { return }
      state.followsBattery = true
      state.tasks.append(
        Task { [weak self, sleep = time.sleep] in
          var charge: Int? = charge
          while (try? await sleep(.seconds(60))) != nil, !Task.isCancelled {
            guard let self else { return }
            let now = self.battery()
            if now != charge { self.tell() }
            charge = now
          }
        }
      )
    }
  }
}

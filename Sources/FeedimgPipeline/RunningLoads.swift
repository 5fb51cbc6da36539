/// The loads, revalidations and transfers that run, and their observers.
package struct RunningLoads: Sendable {
  let coalescer = Coalescer<FetchedImage>()
  let revalidator: Revalidator
  package let transfers = TransferRegistry()
  let observers: [any LoadObserving]

  init(revalidator: Revalidator, observers: [any LoadObserving]) {
    (self.revalidator, self.observers) = (revalidator, observers)
  }
}

package import FeedimgModel
package import FeedimgSystem

/// The downloader with its scheduler and retries.
package struct Transport: Sendable {
  let downloader: any Downloading
  /// The header fields and timeouts of the program's requests; single loads may add fields.
  let identity: RequestIdentity
  /// The service; nil if this process loads images itself.
  let service: ServiceClient?
  let scheduler: DownloadScheduler
  package let retries: RetryController

  package init(
    _ downloader: any Downloading,
    identity: RequestIdentity = RequestIdentity(userAgent: "feedimg"),
    service: ServiceClient? = nil,
    retries: RetrySchedule = RetrySchedule(),
    time: MonotonicTime
  ) {
    (self.downloader, self.identity, self.service) = (downloader, identity, service)
    scheduler = DownloadScheduler(time, interval: identity.requests.interval)
    self.retries = RetryController(time, schedule: retries)
  }
}

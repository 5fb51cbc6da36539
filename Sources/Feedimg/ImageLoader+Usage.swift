import FeedimgPipeline

extension ImageLoader {
  /// Records the bytes received so far, for a program that exits during transfers.
  ///
  /// Running transfers count as well. If the program exits without this call, their bytes are not counted,
  /// nor are those of the last two seconds.
  ///
  /// The call waits for the disk. It waits at most a quarter of a second for another program that writes
  /// the ledger. It does nothing if every byte is already recorded.
  public func writeUsage() {
    resources.sources.meter?.endAll()
    resources.saveBandwidth()
  }
}

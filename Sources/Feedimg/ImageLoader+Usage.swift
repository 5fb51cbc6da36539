import FeedimgPipeline

extension ImageLoader {
  /// Writes down what has been received so far, for a program that ends in the midst of transfers.
  ///
  /// Those under way count as ended. Without this, where the program ends all the same, they do not count, nor do the
  /// bytes of the last two seconds. Waits for the disk, and a quarter of a second at most for another program that
  /// replaces the ledger; does nothing where nothing is unwritten.
  public func writeUsage() {
    meter?.endAll()
    keepBandwidth()
  }
}

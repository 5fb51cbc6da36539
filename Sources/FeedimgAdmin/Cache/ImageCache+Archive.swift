import FeedimgCache

/// Taking images from one machine to another.
extension ImageCache {
  /// Writes all images into a tar archive, the last used first; the file is whole or as it was before.
  ///
  /// Cookies are left out, and images that were fetched with credentials.
  ///
  /// - Parameters:
  ///   - path: A file, or nil for standard output.
  ///   - progress: Is told how many of about how many have been written; returns whether to go on.
  /// - Returns: What was written.
  /// - Throws: ``ConfigurationError`` where the cache cannot be read or the archive not be written.
  public func exportImages(
    to path: String?,
    progress: (_ done: Int, _ count: Int) -> Bool = { _, _ in true }
  ) throws(ConfigurationError) -> ExportedImages {
    try naming { () throws(CacheError) in ExportedImages(try cache.export(to: path, progress: progress)) }
  }

  /// Stores the images of an archive from ``exportImages(to:progress:)``, as if they had just been used.
  ///
  /// Nothing gives way to them. An archive in a file that is torn, damaged or not ours changes nothing; from a pipe,
  /// what came before the fault has been stored.
  ///
  /// - Parameters:
  ///   - path: A file, or nil for standard input.
  ///   - progress: Is told how many images of how many, if that is known, have been read; returns whether to go on.
  /// - Returns: What was stored.
  /// - Throws: ``ConfigurationError`` where the archive cannot be used, or the cache not be written.
  public func importImages(
    from path: String?,
    progress: (_ done: Int, _ count: Int?) -> Bool = { _, _ in true }
  ) throws(ConfigurationError) -> ImportedImages {
    try naming { () throws(CacheError) in
      ImportedImages(try cache.importEntries(from: path, progress: progress))
    }
  }
}

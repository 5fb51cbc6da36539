import FeedimgModel

/// Why there is no index to work with.
enum IndexFault: Error, Hashable {
  case database(SQLiteError)
  case file(FileFault)
  /// The file is a database of another program.
  case foreign
  /// The file was made by a later version of this program, with a later schema.
  case newer(Int)

  /// Runs the body, whose failures are those of the database.
  static func ofDatabase<Answer>(
    _ body: () throws(SQLiteError) -> Answer
  ) throws(IndexFault) -> Answer {
    do throws(SQLiteError) { return try body() } catch { throw .database(error) }
  }

  /// Runs the body, whose failures are those of files.
  static func ofFiles<Answer: ~Copyable>(
    _ body: () throws(FileFault) -> Answer
  ) throws(IndexFault) -> Answer {
    do throws(FileFault) { return try body() } catch { throw .file(error) }
  }

  /// Whether the file holds something else than we wrote, so that only a new one helps.
  var isDamage: Bool { if case .database(let error) = self { error.isDamage } else { false } }

  func cacheError(index path: String) -> CacheError {
    switch self {
    case .database(let error): CacheError(.index, "cannot use the index `\(path)`: \(error)")
    case .file(let fault): CacheError(.folder, fault.description)
    case .foreign: CacheError(.index, "cannot use the index `\(path)`: it belongs to another program")
    case .newer(let version):
      CacheError(
        .index,
        "cannot use the index `\(path)`: it has schema \(version) of a later version, "
          + "and this one knows schema \(IndexSchema.version)"
      )
    }
  }
}

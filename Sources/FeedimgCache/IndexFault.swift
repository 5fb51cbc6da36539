import FeedimgModel

/// Why there is no index to work with.
enum IndexFault: Error, Hashable {
  case database(SQLiteError)
  case file(FileFault)
  /// The file is a database of another program.
  case foreign

  /// Runs the body, whose failures are those of the database.
  static func ofDatabase<Answer>(
    _ body: () throws(SQLiteError) -> Answer
  ) throws(IndexFault) -> Answer {
    do throws(SQLiteError) { return try body() } catch { throw .database(error) }
  }

  /// Throws where a later version has made the schema of the index.
  static func ofStanding(_ index: CacheIndex) throws(IndexFault) {
    if case .newer(let version)? = try? index.standing() { throw .database(.newer(version)) }
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
    case .database(let error):
      CacheError(
        .index,
        "cannot use the index `\(path)`: \(error)",
        isForWantOfRoom: error.isForWantOfRoom
      )
    case .file(let fault):
      CacheError(.folder, fault.description, isForWantOfRoom: fault.isForWantOfRoom)
    case .foreign:
      CacheError(.index, "cannot use the index `\(path)`: it belongs to another program")
    }
  }
}

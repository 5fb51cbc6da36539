import CSQLite

/// A prepared statement, for the thread that holds its connection.
final class SQLiteStatement {
  /// A value to be put in place of a question mark.
  enum Value {
    case integer(Int)
    case text([UInt8])
  }

  private let handle: OpaquePointer
  private let connection: OpaquePointer

  init(_ sql: String, on connection: OpaquePointer) throws(SQLiteError) {
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let result = sqlite3_prepare_v3(connection, sql, -1, flags, &prepared, nil)
    guard result == SQLITE_OK, let prepared else { throw SQLiteError(result, on: connection) }
    handle = prepared
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  /// Runs the statement and gives each row to the body, until that returns false.
  func forEachRow(
    _ values: [Value] = [],
    _ body: (SQLiteRow) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) {
    // The statement lets go of its locks whichever way this ends; an error has been reported by then.
    defer { sqlite3_reset(handle) }
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: if try !body(SQLiteRow(handle: handle)) { return }
      case SQLITE_DONE: return
      case let result: throw SQLiteError(result, on: connection)
      }
    }
  }

  func run(_ values: [Value] = []) throws(SQLiteError) { try forEachRow(values) { _ in true } }

  /// What the body makes of the first row; nil where there is none.
  func first<Answer>(_ values: [Value] = [], _ body: (SQLiteRow) -> Answer) throws(SQLiteError) -> Answer? {
    var answer: Answer?
    try forEachRow(values) { row in
      answer = body(row)
      return false
    }
    return answer
  }

  private func bind(_ value: Value, at index: Int32) throws(SQLiteError) {
    let result =
      switch value {
      case .integer(let number): sqlite3_bind_int64(handle, index, Int64(number))
      case .text(let bytes): bindText(bytes, at: index)
      }
    guard result == SQLITE_OK else { throw SQLiteError(result, on: connection) }
  }

  private func bindText(_ bytes: [UInt8], at index: Int32) -> Int32 {
    // SQLITE_TRANSIENT, whose cast the importer leaves out: SQLite keeps its own copy.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    return bytes.withUnsafeBytes { buffer in
      sqlite3_bind_text64(
        handle,
        index,
        buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
        UInt64(buffer.count),
        transient,
        UInt8(SQLITE_UTF8)
      )
    }
  }
}

/// The row that a statement stands at; valid within the closure that it was given to.
struct SQLiteRow {
  let handle: OpaquePointer

  /// Zero for what is no number.
  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  /// The bytes of a text, as it is stored; empty for null.
  func withText<Answer>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    let start = sqlite3_column_blob(handle, column)
    // The length must be asked for after the pointer, as asking may convert the value.
    return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}

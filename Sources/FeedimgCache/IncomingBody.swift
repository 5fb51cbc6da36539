import Glibc

/// A body that is being written, under a name that means nothing yet.
///
/// Its file is locked for as long as this value lives, even after it has got its final name: whoever finds a file
/// without a row and can lock it knows that its writer is dead. Without being placed, it leaves nothing behind.
struct IncomingBody: ~Copyable {
  private var file: OpenFile
  private var checksumSoFar: Checksum
  private(set) var size = 0
  private var isPlaced = false

  /// Makes the file, and the folders for it where they are missing.
  init(in folder: CacheFolder) throws(FileFault) {
    guard let checksum = Checksum() else { throw FileFault("write", folder.incoming, reason: ENOMEM) }
    let made = try Self.makeFile(in: folder)
    checksumSoFar = checksum
    file = made
  }

  deinit {
    if !isPlaced { unlink(file.path) }
  }

  var checksum: UInt64 { checksumSoFar.value }

  var descriptor: Int32 { file.descriptor }

  private static func makeFile(in folder: CacheFolder) throws(FileFault) -> OpenFile {
    while true {
      do throws(FileFault) {
        return try folder.makeIncomingFile(O_RDWR)
      } catch {
        guard [ENOENT, ENOTDIR].contains(error.reason) else { throw error }
        try folder.create()
        guard folder.exists(folder.incoming) else { throw error }
      }
    }
  }

  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(FileFault) {
    try file.write(bytes)
    checksumSoFar.update(bytes)
    size += bytes.count
  }

  mutating func write(_ bytes: [UInt8]) throws(FileFault) {
    try file.write(bytes)
    bytes.withUnsafeBytes { checksumSoFar.update($0) }
    size += bytes.count
  }

  /// The name of the file, without its folder.
  var name: String { file.path.split(separator: "/").last.map(String.init) ?? "" }

  /// Gives the file its final name, whole and at once; also when the folder was removed meanwhile.
  mutating func place(as body: BodyName, in folder: CacheFolder) throws(FileFault) {
    let path = folder.path(of: body)
    guard rename(file.path, path) != 0 else {
      isPlaced = true
      return
    }
    guard errno == ENOENT else { throw FileFault("write", path) }
    try folder.create()
    try CacheFolder.makeFolder(folder.folder(of: body.shard))
    if file.isUnlinked { file = try copy(in: folder) }
    guard rename(file.path, path) == 0 else { throw FileFault("write", path) }
    isPlaced = true
  }

  /// Gives the file another name, with something at its end; whole and at once.
  mutating func place(at path: String, endingWith trailer: [UInt8]) throws(FileFault) {
    try file.write(trailer)
    guard rename(file.path, path) == 0 else { throw FileFault("write", path) }
    isPlaced = true
  }

  /// The same bytes in a file that has a name.
  private func copy(in folder: CacheFolder) throws(FileFault) -> OpenFile {
    let copy = try Self.makeFile(in: folder)
    do throws(FileFault) {
      try copy.write(try file.read(count: size))
      return copy
    } catch {
      unlink(copy.path)
      throw error
    }
  }
}

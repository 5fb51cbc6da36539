import FeedimgSystem
import Glibc

@testable import Feedimg
@testable import FeedimgPipeline

/// A control group below that of the tests, for programs short of memory.
///
/// It is removed with the value.
final class LiveGroup {
  let folder: String
  private let script: UnsafeMutablePointer<FILE>

  /// Whether this system allows such groups.
  static let isPermitted: Bool = {
    guard let (folder, limit) = place, mkdir(folder, 0o700) == 0 else { return false }
    defer { rmdir(folder) }
    return access("\(folder)/\(limit)", W_OK) == 0
  }()

  private static let place: (folder: String, limit: String)? = {
    guard let groups = MemoryGroups(SystemFiles()), let own = groups.folders.first else { return nil }
    let limit = access("\(own)/memory.high", F_OK) == 0 ? "memory.high" : "memory.limit_in_bytes"
    return ("\(own)/feedimg-test-\(getpid())", limit)
  }()

  /// Programs that read more than the group may hold, repeatedly, until standard input ends.
  ///
  /// They join the group after their writes. Pages that are not yet on the disk would get them killed.
  private static let shortage = """
    mkdir "$group" || exit
    echo 25165824 > "$group/$limit"
    for number in 1 2 3 4; do
      python3 -c "
    import mmap, os, tempfile
    file = tempfile.TemporaryFile(dir='/var/tmp')
    for _ in range(64): file.write(bytes(1 << 20))
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with open('$group/cgroup.procs', 'w') as members: members.write(str(os.getpid()))
    map = mmap.mmap(file.fileno(), 0)
    while True:
        for place in range(0, len(map), 4096): map[place]
    " 2> /dev/null &
      programs="$programs $!"
    done
    cat
    kill -9 $programs
    wait
    for try in 1 2 3 4 5 6 7 8 9; do rmdir "$group" && break; sleep 0.1; done 2> /dev/null
    """

  init() throws {
    guard let (folder, limit) = Self.place else { throw FileError("make", "a control group", reason: ENOENT) }
    self.folder = folder
    let script = "group='\(folder)' limit='\(limit)'\nexport group limit\n" + Self.shortage
    guard let script = popen(script, "we") else { throw FileError("make", folder) }
    self.script = script
  }

  deinit { pclose(script) }
}

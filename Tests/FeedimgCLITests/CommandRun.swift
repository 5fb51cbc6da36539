import FeedimgJSON
import Glibc

/// One run of the real program, to its end.
struct CommandRun {
  let status: Int32
  let output: String
  let errors: String

  /// Runs `feedimg` in the folder, with these arguments, separate folders and no other environment.
  init(_ arguments: [String], in folder: TestFolder, environment: [String: String] = [:]) throws {
    try self.init(of: Self.program, arguments, in: folder, environment: environment)
  }

  /// Runs another program in the same way.
  init(
    of program: String,
    _ arguments: [String],
    in folder: TestFolder,
    environment: [String: String] = [:]
  ) throws {
    let outputPath = folder.path("stdout.\(folder.nextNumber())")
    let errorPath = folder.path("stderr.\(folder.nextNumber())")
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, environment["TEST_STDIN"] ?? "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions,
      1,
      environment["TEST_STDOUT"] ?? outputPath,
      O_WRONLY | O_CREAT | O_TRUNC,
      0o600
    )
    posix_spawn_file_actions_addopen(&actions, 2, errorPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let variables = [
      "HOME": folder.path(""), "XDG_CACHE_HOME": folder.path("cache"),
      "XDG_CONFIG_HOME": folder.path("config"),
    ].merging(environment) { $1 }
    // Swift does not see glibc's own function for the working folder of a child.
    let argv = CStrings(["env", "-C", folder.root, program] + arguments)
    let envp = CStrings(variables.map { "\($0)=\($1)" })
    var process = pid_t()
    let code = posix_spawn(&process, "/usr/bin/env", &actions, nil, argv.pointers, envp.pointers)
    guard code == 0 else { throw RunError(message: "cannot run \(program): \(code)") }
    var ended: Int32 = 0
    while waitpid(process, &ended, 0) < 0, errno == EINTR {}
    // WEXITSTATUS, or the signal as a shell shows it.
    status = ended & 0x7F == 0 ? (ended >> 8) & 0xFF : 128 + (ended & 0x7F)
    output = environment["TEST_STDOUT"] == nil ? try TestFolder.text(of: outputPath) : ""
    errors = try TestFolder.text(of: errorPath)
  }

  /// The printed objects, one per line.
  var objects: [JSONObject] {
    get throws {
      try JSONReader.values(in: Array(output.utf8)).compactMap {
        if case .object(let object) = $0 { object } else { nil }
      }
    }
  }

  /// Built beside the tests, unless `FEEDIMG_BINARY` names another, such as the release binary.
  static let program: String = {
    if let given = getenv("FEEDIMG_BINARY") { return String(cString: given) }
    return besideTests("feedimg")
  }()

  /// The path of a program that is built with the tests.
  static func besideTests(_ name: String) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
    }
    let tests = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return (tests.lastIndex(of: "/").map { String(tests[...$0]) } ?? "") + name
  }
}

/// Why the program could not be run.
struct RunError: Error {
  let message: String
}

/// Texts as C strings, for the lifetime of the value.
private final class CStrings {
  let pointers: [UnsafeMutablePointer<CChar>?]

  init(_ texts: [String]) { pointers = texts.map { strdup($0) } + [nil] }

  deinit { for pointer in pointers { free(pointer) } }
}

import Testing

/// `feedimg serve`, up to the start of the other program.
@Suite struct ServeTests {
  @Test func `serve becomes the program beside it, with all options`() throws {
    let folder = try TestFolder()
    try folder.write("file", "precious")
    let run = try CommandRun(
      [
        "serve", "--socket", "file", "--no-token", "--network", "wifi", "--metered", "no", "--set",
        "always-original=yes", "--policy", "data-saver", "--cache-dir", "c", "--config-dir", "k",
      ],
      in: folder
    )
    #expect(run.status == 2)
    #expect(
      run.errors
        == "feedimg: `file` exists and is not a socket; remove it, or choose another path with --socket\n"
    )
  }

  @Test func `the service knows the facts that the user declares`() throws {
    let folder = try TestFolder()
    try folder.write("mine.md", "| on screen | → image |\n|--|--|\n| yes | original |\n| no | cached |\n")
    try folder.write("file", "precious")
    let arguments = ["serve", "--socket", "file", "--policy", "mine.md"]
    let run = try CommandRun(arguments + ["--declare", "on-screen=no,yes"], in: folder)
    #expect(run.errors.hasPrefix("feedimg: `file` exists and is not a socket"))
    let undeclared = try CommandRun(arguments, in: folder)
    #expect(undeclared.errors == "feedimg: mine.md:1:3: unknown fact `on screen`\n")
  }

  @Test func `invalid options are refused before that`() throws {
    let folder = try TestFolder()
    let rows = [
      (["--port", "70000"], "--port: expected a number from 0 to 65535, found 70000"),
      (["--port", "-1"], "--port: expected a number from 0 to 65535, found -1"),
      (["--set", "x"], "--set x: expected a fact and its value"),
      (["--declare", "x"], "--declare x: expected a fact and its values"),
      (["now"], "Unexpected argument 'now'"),
    ]
    for (arguments, words) in rows {
      let run = try CommandRun(["serve"] + arguments, in: folder)
      #expect(run.status == 2, "\(arguments)")
      #expect(run.errors.contains(words), "\(arguments): \(run.errors)")
    }
  }

  @Test func `the folder of the socket must be known`() throws {
    let run = try CommandRun(["serve"], in: TestFolder())
    #expect(run.status == 2)
    #expect(run.errors.hasPrefix("feedimg: no folder for the socket: $XDG_RUNTIME_DIR is not set"))
  }
}
